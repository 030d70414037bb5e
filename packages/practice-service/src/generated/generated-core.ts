import type { AssetDraft } from './asset-draft.ts';
import { inventedAddress, pickOwner } from './invented-collections.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The members that only core assets have, each with its leading comma. */
export function coreText({ random, interface: name }: AssetDraft): string {
  const minted = random.below(10_000);
  const counts = name === 'MplCoreAsset' ? '' : `"num_minted":${minted},"current_size":${random.below(minted + 1)},`;
  return (
    `,"plugins":{${pluginsText(random)}},"mpl_core_info":{${counts}"plugins_json_version":1}` +
    (random.chance(60) ? `,"external_plugins":[${externalPluginText(random)}]` : '')
  );
}

function pluginsText(random: SeededRandom): string {
  const plugins: string[] = [];
  const add = (name: string, data: string): void => {
    const index = plugins.length;
    const authority = random.chance(50)
      ? '{"type":"UpdateAuthority","address":null}'
      : `{"type":"Address","address":"${pickOwner(random)}"}`;
    plugins.push(`"${name}":{"data":${data},"index":${index},"offset":${119 + index * 41},"authority":${authority}}`);
  };
  if (random.chance(40)) {
    const rules = random.chance(70) ? '"None"' : `{"program_deny_list":["${inventedAddress('denied program')}"]}`;
    add(
      'royalties',
      `{"creators":[{"address":"${pickOwner(random)}","percentage":100}],"rule_set":${rules},"basis_points":${random.below(1000)}}`,
    );
  }
  if (random.chance(30)) add('freeze_delegate', `{"frozen":${random.chance(20)}}`);
  if (random.chance(15)) add('transfer_delegate', '{}');
  if (random.chance(10)) add('attributes', '{"attribute_list":[{"key":"deck","value":"upper"},{"key":"","value":""}]}');
  if (random.chance(5)) add('update_delegate', '{"additional_delegates":[]}');
  if (random.chance(5)) add(random.pick(['verified_creators', 'autograph']), '{"signatures":[]}');
  if (random.chance(5)) add(random.pick(['bubblegum_v2', 'permanent_burn_delegate']), '{}');
  return plugins.join(',');
}

const parents = [
  `{"type":"Address","address":"${inventedAddress('linked data')}"}`,
  '{"type":"Owner","address":null}',
] as const;

function externalPluginText(random: SeededRandom): string {
  const place = '"index":0,"offset":119,"authority":{"type":"UpdateAuthority","address":null}';
  const parent = random.pick(parents);
  const check = `"lifecycle_checks":{"${random.pick(['create', 'transfer', 'burn'])}":["CanReject"]}`;
  const oracle = `"base_address":"${inventedAddress('oracle')}","results_offset":"Anchor","base_address_config":null`;
  const kinds = [
    `{"type":"AppData",${place},"data":"dGVhcG90","data_len":6,"data_offset":122,"adapter_config":{"schema":"Binary","data_authority":${parent}}}`,
    `{"type":"DataSection",${place},"data":{"message":"four cups","target":"tea"},"data_len":30,"data_offset":123,"adapter_config":{"schema":"Json","parent_key":{"linked_app_data":${parent}}}}`,
    `{"type":"LinkedAppData",${place},"adapter_config":{"schema":"MsgPack","data_authority":${parent}}}`,
    `{"type":"Oracle",${place},"adapter_config":{${oracle}},${check}}`,
  ];
  return random.chance(40) ? '' : random.pick(kinds);
}
