/** Records that together have every member the specification names, as JSON text. Names and keys are invented. */

const id = {
  nft: 'CoNFoRmaNceRecord1111111111111111111111111N',
  token: 'CoNFoRmaNceRecord1111111111111111111111111T',
  member: 'CoNFoRmaNceRecord1111111111111111111111111M',
  unverified: 'CoNFoRmaNceRecord1111111111111111111111111U',
  bare: 'CoNFoRmaNceRecord1111111111111111111111111B',
} as const;
const key = 'SomeInventedKey1111111111111111111111111111';

export const conformanceIds = {
  ...id,
  present: Object.values(id),
  absent: ['NobodyHasThisKey111111111111111111111111112', 'NobodyHasThisKey111111111111111111111111113'],
};

const nft = `{"interface":"ProgrammableNFT","id":"${id.nft}","content":{"$schema":"https://schema.example/nft1.0.json","json_uri":"https://meta.example/1","files":[{"uri":"https://media.example/1.png","mime":"image/png","contexts":["primary"]}],"metadata":{"attributes":[{"trait_type":"Hour","value":"dusk"},{"trait_type":"Born","value":1710000000,"display_type":"date"}],"description":"Grüße, 茶 🫖","name":"Teapot #1","symbol":"TEA","token_standard":"ProgrammableNonFungible"},"links":{"image":"https://media.example/1.png","external_url":""}},"authorities":[{"address":"${key}","scopes":["full"]}],"compression":{"eligible":true,"compressed":true,"data_hash":"${key}","creator_hash":"${key}","asset_hash":"${key}","tree":"${key}","seq":7,"leaf_id":3},"grouping":[{"group_key":"collection","group_value":"${key}"}],"royalty":{"royalty_model":"creators","target":"${key}","percent":0.030000000000000002,"basis_points":300,"primary_sale_happened":true,"locked":false},"creators":[{"address":"${key}","share":100,"verified":true}],"ownership":{"frozen":false,"delegated":true,"delegate":"${key}","ownership_model":"single","owner":"${key}"},"uses":{"use_method":"burn","remaining":1,"total":3},"supply":{"print_max_supply":10,"print_current_supply":2,"edition_nonce":255},"mutable":true,"burnt":false}`;

const token = `{"interface":"FungibleToken","id":"${id.token}","content":{"$schema":"https://schema.example/nft1.0.json","json_uri":"","files":[],"metadata":{"name":"Quill","symbol":"QUIL"},"links":{}},"token_info":{"supply":18446744073709551615,"decimals":6,"token_program":"${key}","mint_authority":"${key}","freeze_authority":"${key}"},"royalty":{"royalty_model":"single","target":null,"percent":0,"basis_points":0,"primary_sale_happened":false,"locked":false},"ownership":{"frozen":false,"delegated":false,"delegate":null,"ownership_model":"token","owner":""},"supply":null,"mutable":true,"burnt":false}`;

const member = `{"interface":"V1_NFT","id":"${id.member}","grouping":[{"collection_metadata":{"name":"Teapots"},"group_key":"collection","group_value":"${key}"}],"mutable":false,"burnt":true}`;

const unverified = `{"interface":"V1_NFT","id":"${id.unverified}","grouping":[{"group_key":"collection","group_value":"${key}","verified":false}]}`;

const bare = `{"interface":"Custom","id":"${id.bare}"}`;

export const conformanceRecords: readonly string[] = [nft, token, member, unverified, bare];
