import { count, plural } from '../../../lib/format-text.ts';
import type {
  AssetCards,
  BooleanShare,
  DataProfile,
  LabelledCount,
  Ranking,
  Trait,
} from '../profile/profile-source.ts';
import { bar, type BarRow, barTable, histogram } from './charts.ts';
import { html, type Markup, type Part } from './html.ts';
import { percent, shortId, value } from './text.ts';

/** Section 3: what the assets are. */
export function assetsSection({ cards, parts }: DataProfile, extent: Part): Markup {
  const { interfaces, collections, traits, jsonHosts, imageHosts, shares } = cards;
  const content = [
    interfaces && rankingCard('Interfaces', 'interface', interfaces),
    collections && collectionsCard(collections),
    shares.length > 0 && sharesCard(shares),
    jsonHosts && rankingCard('Hosts of json_uri', 'host', jsonHosts),
    imageHosts && rankingCard('Hosts of image', 'host', imageHosts),
    ...histograms(cards),
  ].filter((part) => part !== undefined && part !== false && part !== '');
  return html`<section id="assets" aria-labelledby="assets-h"><h2 id="assets-h">What the assets are</h2>
${extent}${content.length === 0 ? html`<p class="card notice">${parts.all === 0 ? 'No part is finished yet.' : 'The export has none of the columns that are shown here.'}</p>` : html`<div class="columns">${content}</div>${traits && traitsCard(traits)}`}
</section>`;
}

function wholeOf({ top, others, without }: Ranking): number {
  return top.reduce((total, each) => total + each.count, 0) + others.count + without;
}

function rankingCard(caption: string, of: string, ranking: Ranking): Markup {
  const rows = ranking.top.map((each) => ({ name: value(each.value), count: each.count }));
  return html`<div class="card">${barTable({ caption, of, unit: 'assets', whole: wholeOf(ranking), rows, rest: restRows(ranking) })}</div>`;
}

/** What a ranking does not list: other values, and none. */
function restRows({ others, without }: Ranking, none = 'without'): BarRow[] {
  return [
    ...(others.values === 0 ? [] : [{ name: `${count(others.values)} more`, count: others.count }]),
    ...(without === 0 ? [] : [{ name: none, count: without }]),
  ];
}

function collectionsCard(ranking: NonNullable<AssetCards['collections']>): Markup {
  const rows = ranking.top.map(({ value: id, name, count: assets }) => ({
    name: name === null ? html`<bdi class="id">${shortId(id)}</bdi>` : value(name),
    ...(name === null ? {} : { detail: html`<bdi class="id">${shortId(id)}</bdi>` }),
    count: assets,
  }));
  return html`<div class="card">${barTable({
    caption: 'Collections',
    of: 'collection',
    unit: 'assets',
    whole: wholeOf(ranking),
    rows,
    rest: restRows(ranking, 'in no collection'),
  })}</div>`;
}

function sharesCard(shares: readonly BooleanShare[]): Markup {
  const rows = shares.map(({ name, yes, no, null: none }) => {
    const all = yes + no + none;
    const width = (part: number): number => (all === 0 ? 0 : (part / all) * 100);
    return html`<tr><th scope="row"><bdi>${name}</bdi></th><td class="b">${bar([
      { from: 0, width: width(yes), colour: 'bar' },
      { from: 100 - width(none), width: width(none), colour: 'pending', isHatched: true },
    ])}</td><td class="n">${percent(yes, all)}</td><td class="n s">${percent(none, all)}</td></tr>
`;
  });
  return html`<div class="card"><table class="bars"><caption>Shares of true <span class="muted">null is hatched</span></caption><thead><tr><th scope="col">column</th><td></td><th scope="col" class="n">true</th><th scope="col" class="n">null</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function traitsCard(ranking: Ranking<Trait>): Part {
  if (ranking.top.length === 0)
    return html`<div class="card"><h3>Traits</h3><p>No asset has an attribute with a trait_type.</p></div>`;
  const rows = ranking.top.map((trait) => ({ name: value(trait.value), count: trait.count }));
  const folded = ranking.top.map(
    (trait) =>
      html`<details><summary>${value(trait.value)} <span class="muted">top ${trait.values.length} of ${plural(trait.distinct, 'value')}</span></summary><table class="list"><tbody>${trait.values.map(
        (each) =>
          html`<tr><td>${each.value === '' ? html`<i>empty text</i>` : value(each.value)}</td><td>${count(each.count)}</td><td>${percent(each.count, trait.count)}</td></tr>`,
      )}</tbody></table></details>`,
  );
  return html`<div class="card traits">${barTable({
    caption: 'Traits',
    of: 'trait_type',
    unit: 'attributes',
    whole: wholeOf(ranking),
    rows,
    rest: restRows(ranking, 'without trait_type'),
  })}<div><h3>Values</h3>${folded}</div></div>`;
}

function histograms(cards: AssetCards): Part[] {
  const drawn = (caption: string, bins: readonly LabelledCount[] | undefined, unit: string): Part =>
    bins !== undefined && bins.length > 0 && histogram(caption, bins, unit);
  return [
    drawn('Royalty', cards.royalty, 'assets by basis points'),
    drawn('Creators per asset', cards.creatorsPerAsset, 'assets by number of creators'),
    drawn('Creator share', cards.creatorShare, 'creators by percent'),
    drawn('Attributes an asset', cards.attributesPerAsset, 'assets by number of attributes'),
    drawn('Print supply', cards.printSupply, 'assets by maximum supply'),
  ];
}
