/** What people asked of an export, and the words of the demo's page that answer. */
export const questions: readonly (readonly [string, RegExp])[] = [
  ['Is it complete?', /^demo complete /],
  ['How many of my ids became rows?', /3,000 exported · 95\.8 %/],
  ['Why are 60 missing?', /missing not in the answer 60 /],
  ['What happened to the others?', /60 missing .* 35 invalid .* 35 duplicate .* 0 failed/],
  ['What did it cost, and an asset?', /640 credits 0\.21 an asset/],
  ['How fast was it, and was it throttled?', /in 1 run [\d,]+ ids\/s .* paused 0 times/],
  ['What did each day cost?', /Credits by UTC day .*\d{4}-\d\d-\d\d .*640/],
  ['Which collections are the largest?', /Collections .* Windy Junipers 8Fv4…XwSe 41 1\.4 %/],
  ['Which interfaces are there?', /Interfaces .* V1_NFT 954 31\.8 %/],
  ['Which columns are always empty?', /columns are always null/],
  ['Which line of which file is wrong?', /invalid .*is not a base58 character.*data\/ids\.txt ?:167/],
  ['Did the service send fields nobody knows?', /content\.files\[\]\.cdn_uri unknown field 980/],
  ['How do I get the missing ids again, and for how much?', /60 ids in 1 call, 160 credits/],
  ['How do I load it?', /asset-export load demo --to duckdb:demo\.duckdb/],
];
