/** The page's only style. Its hash is in the page's policy. Colours of charts are classes, which win over their attributes. */
export const style = `
:root{color-scheme:light;--page:#f5f7f9;--card:#fff;--line:#dfe4ea;--text:#17202b;--soft-text:#4b5768;--link:#135b76;--good-bg:#dbf3e3;--good:#0c5c31;--bad-bg:#fbe2de;--bad:#8f1f12;--live-bg:#dcecf8;--live:#0f4c75;
--exported:#1c6e8c;--missing:#b97a00;--invalid:#a23b86;--duplicate:#717a90;--failed:#c0392b;--pending:#b9c3cf;--soft:#cfe3ea;--paused:#f3d9a0;--waiting:#e6d5f0;--nothing:#e9edf1;--track:#e9edf1;--grid:#dfe4ea;--on:#fff}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;--page:#0f151b;--card:#182129;--line:#2b3843;--text:#e8edf2;--soft-text:#a3b1be;--link:#7cc6e2;--good-bg:#143d28;--good:#9be3b8;--bad-bg:#4a1d18;--bad:#ffb8ac;--live-bg:#123a56;--live:#a9d7f7;
--exported:#3f9dbd;--missing:#d99a20;--invalid:#cc6bb0;--duplicate:#8b95ab;--failed:#e8705f;--pending:#566472;--soft:#1f4453;--paused:#5c4718;--waiting:#46325a;--nothing:#25313b;--track:#25313b;--grid:#2b3843;--on:#06141b}}
:root[data-theme=dark]{color-scheme:dark;--page:#0f151b;--card:#182129;--line:#2b3843;--text:#e8edf2;--soft-text:#a3b1be;--link:#7cc6e2;--good-bg:#143d28;--good:#9be3b8;--bad-bg:#4a1d18;--bad:#ffb8ac;--live-bg:#123a56;--live:#a9d7f7;
--exported:#3f9dbd;--missing:#d99a20;--invalid:#cc6bb0;--duplicate:#8b95ab;--failed:#e8705f;--pending:#566472;--soft:#1f4453;--paused:#5c4718;--waiting:#46325a;--nothing:#25313b;--track:#25313b;--grid:#2b3843;--on:#06141b}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{scroll-padding-top:3.4rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
.wrap{max-width:1140px;margin:0 auto;padding:0 20px}
header{background:var(--card)}
header .wrap{padding-top:24px;padding-bottom:18px}
header p{margin:6px 0 0;color:var(--soft-text)}
header .why{color:var(--bad)}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:8px 14px}
h1{margin:0;font-size:27px;line-height:1.2;overflow-wrap:anywhere}
h2{margin:44px 0 14px;font-size:21px;line-height:1.3}
h3{margin:0 0 8px;font-size:15px;line-height:1.4}
a{color:var(--link);text-underline-offset:3px}
.pill{padding:2px 12px;border-radius:99px;font-size:14px;font-weight:600}
.good{background:var(--good-bg);color:var(--good)}
.bad{background:var(--bad-bg);color:var(--bad)}
.live{background:var(--live-bg);color:var(--live)}
button,input{font:inherit;color:var(--text);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:4px 12px}
button{cursor:pointer}
#theme{margin-left:auto}
button:hover{border-color:var(--soft-text)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav{position:sticky;top:0;z-index:1;background:var(--card);border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
nav ul{display:flex;flex-wrap:wrap;gap:0 20px;margin:0;padding:0;list-style:none}
nav a{display:block;padding:9px 0;color:var(--text);text-decoration:none;font-size:14px}
nav a:hover{color:var(--link);text-decoration:underline}
main{padding-bottom:48px}
.card{margin:0 0 16px;padding:18px 20px;background:var(--card);border:1px solid var(--line);border-radius:12px;min-width:0}
.card p{margin:0 0 10px}
.card p:last-child{margin-bottom:0}
.flush{padding:0;overflow:hidden}
.notice{color:var(--soft-text)}
.muted,small,.note{color:var(--soft-text);font-weight:400}
small,.note{font-size:12.5px}
code,pre,.id,.hash{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.88em}
bdi{overflow-wrap:anywhere}
svg{display:block;overflow:visible}
svg text{font-family:inherit;fill:var(--soft-text)}
svg text.on{fill:var(--on)}
.exported,rect.bar{fill:var(--exported)}
.missing{fill:var(--missing)}.invalid{fill:var(--invalid)}.duplicate{fill:var(--duplicate)}.failed{fill:var(--failed)}.pending{fill:var(--pending)}
.soft{fill:var(--soft)}.paused{fill:var(--paused)}.waiting{fill:var(--waiting)}.nothing,.lens{fill:var(--nothing)}.track{fill:var(--track)}
.grid,.axis{fill:var(--grid)}.line{stroke:var(--exported)}.hatch{stroke:var(--duplicate)}
.fates{padding:14px 20px 16px}
.fates .note{margin:0 0 6px}
.fates svg+.note{margin:6px 0 0}
.equation{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));margin:0;padding:0;list-style:none;border-top:1px solid var(--line)}
.equation li{position:relative;padding:14px 12px 14px 20px;border-top:4px solid var(--line);margin-top:-1px}
.equation b{display:block;font-size:22px;line-height:1.25}
.equation i{margin-left:-15px;font-style:normal;font-weight:400;color:var(--soft-text)}
.equation strong{display:block}
.equation span,.tiles span{display:block;font-size:12.5px;line-height:1.4;color:var(--soft-text)}
.equation .zero b,.equation .zero strong{color:var(--soft-text);font-weight:400}
.equation .first{border-top-color:transparent}
.equation .of-exported{border-top-color:var(--exported)}.equation .of-missing{border-top-color:var(--missing)}.equation .of-invalid{border-top-color:var(--invalid)}.equation .of-duplicate{border-top-color:var(--duplicate)}.equation .of-failed{border-top-color:var(--failed)}.equation .of-pending{border-top-color:var(--pending)}
.equation .zero{border-top-color:var(--line)}
.tiles{display:grid;grid-template-columns:repeat(6,minmax(0,1fr));gap:12px;margin:16px 0;padding:0;list-style:none}
.tiles li{padding:13px 16px;background:var(--card);border:1px solid var(--line);border-radius:12px}
.tiles b{display:block;font-size:21px;line-height:1.25}
.tiles strong{display:block;font-size:14.5px}
.look ul{margin:0;padding-left:20px}
.look li{margin:5px 0}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0 0 8px;padding:0;list-style:none;font-size:13px;color:var(--soft-text)}
.legend li::before{content:"";display:inline-block;width:12px;height:12px;margin-right:7px;border-radius:3px;vertical-align:-1px;background:var(--exported)}
.legend .of-paused::before{background:var(--paused)}.legend .of-waiting::before{background:var(--waiting)}.legend .of-nothing::before{background:var(--nothing);box-shadow:inset 0 0 0 1px var(--soft-text)}.legend .of-failed::before{width:3px;background:var(--failed)}
.plot{display:grid;grid-template-columns:52px minmax(0,1fr);margin-bottom:14px}
.plot:last-child{margin-bottom:0}
.plot+.muted{margin:-8px 0 0 52px}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;align-items:stretch;margin-bottom:16px}
.pair>*{margin:0}
.pair:has(>:only-child){grid-template-columns:minmax(0,1fr)}
.stack{display:grid;background:var(--card);border:1px solid var(--line);border-radius:12px;align-content:start}
.stack figure.card{border:0;margin:0;padding-bottom:6px}
.figures{display:flex;gap:28px;margin:0;padding:0 20px 16px}
.figures dt{font-size:12.5px;color:var(--soft-text)}
.figures dd{margin:0;font-weight:600}
figure{margin:0}
figcaption,caption{text-align:left;font-weight:600;margin-bottom:10px}
caption{padding:0 0 8px}
figcaption .muted,caption .muted{font-size:13px}
table{width:100%;border-collapse:collapse}
th{text-align:left;font-weight:600}
td,th{padding:5px 10px;vertical-align:top}
tr>:first-child{padding-left:0}
tr>:last-child{padding-right:0}
thead th{font-size:12.5px;font-weight:400;color:var(--soft-text);padding-top:0}
.n{text-align:right;white-space:nowrap}
.s{color:var(--soft-text)}
.bars{table-layout:fixed}
.bars th:first-child{width:36%}
.bars .b{width:auto;padding-top:10px}
.bars .n{width:82px}
.bars .s,.bars thead .n:last-child{width:68px}
.bars tbody th{font-weight:400;line-height:1.35}
.bars tbody th small{display:block}
.rows tbody tr{border-top:1px solid var(--line)}
.rows tbody th{font-weight:500}
td small,th small{display:block}
.cols tbody th{font-size:14px}
.columns{columns:2;column-gap:16px}
.columns{margin-bottom:16px}
.columns>*{break-inside:avoid}
.columns>:last-child{margin-bottom:0}
.list td:nth-child(n+2){text-align:right;white-space:nowrap;width:74px}.list td:nth-child(3){color:var(--soft-text);width:62px}
.list{margin:4px 0 6px}
.list td{padding:2px 0 2px 8px}.list{table-layout:fixed}
.rest th,.rest td{color:var(--soft-text)}
.days th:first-child{width:120px}
.days .s,.days thead .n:last-child{width:84px}
.traits{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:12px 36px}
.unexported th{white-space:nowrap}
details{margin-top:4px}
summary{cursor:pointer;padding:2px 0}
.flush>table{margin:0}
.cols caption{padding:16px 20px 10px;font-size:16px;margin:0}
.cols{table-layout:fixed}
.cols tr>:first-child{padding-left:20px;width:25%;overflow-wrap:anywhere}
.cols tr>:last-child{padding-right:20px;width:24%}
.cols .list tr>:first-child{padding-left:0;width:auto}
.cols .list tr>:last-child{padding-right:0;width:62px}
.cols thead th:nth-child(2){width:76px}
.cols .f{width:138px}
.cols thead .n{width:90px}
.cols td.f svg{display:inline-block;width:60px;margin-right:8px;vertical-align:-1px}
.cols td.f span{font-size:13px}
.cols .r small{display:inline;white-space:nowrap}.cols .r bdi+small,.cols .r i+small{margin-left:4px}
.cols details{margin:0}
.cols .t{color:var(--soft-text)}
.cols .d svg{max-width:100%}
.tools{display:flex;flex-wrap:wrap;align-items:center;gap:8px 12px;margin:0 0 14px}
.tools input{flex:0 1 260px;min-width:0}
.unexported th[class]::before{content:"";display:inline-block;width:10px;height:10px;margin-right:8px;border-radius:3px;background:var(--pending)}
.unexported th.of-missing::before{background:var(--missing)}.unexported th.of-invalid::before{background:var(--invalid)}.unexported th.of-duplicate::before{background:var(--duplicate)}.unexported th.of-failed::before{background:var(--failed)}
.unexported td:nth-child(2){width:34%}
td>div>small{display:inline}
.steps{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;margin:0;padding:0;list-style:none}
.steps .card{margin:0}
.steps .card:last-child:nth-child(odd){grid-column:1/-1}
.command{display:flex;gap:10px;align-items:flex-start}
pre{flex:1;min-width:0;margin:0;padding:9px 12px;background:var(--page);border:1px solid var(--line);border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere}
.hash{overflow-wrap:anywhere}
.settings td,.drift th,.runs td{overflow-wrap:anywhere}
.settings tbody th,.drift tbody th{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px;font-weight:400}
@media (max-width:820px){.tiles{grid-template-columns:repeat(3,minmax(0,1fr))}.columns{columns:1}.pair,.steps,.traits{grid-template-columns:minmax(0,1fr)}}
@media (max-width:700px){
.wrap{padding:0 14px}.card{padding:14px}.flush{padding:0}.fates{padding:12px 14px}
h1{font-size:23px}h2{margin-top:34px}
nav{position:static}html{scroll-padding-top:8px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}.tiles li{padding:11px 12px}
.equation{grid-template-columns:repeat(2,minmax(0,1fr))}.equation li{padding-left:24px}
.wide{display:none}
.plot{grid-template-columns:44px minmax(0,1fr)}.plot .side{margin-left:-8px}
.bars thead{display:none}.bars,.bars tbody{display:block}.bars tbody tr{display:grid;grid-template-columns:minmax(0,1fr) auto 64px;column-gap:10px;padding:4px 0}.bars tbody tr>*{padding:0;width:auto!important}.bars .b{grid-area:2/1/3/4;padding-top:3px!important}.rest td:empty{display:none}
.rows thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.rows,.rows>tbody,.rows>caption{display:block;width:100%}
.rows>tbody>tr{display:flex;flex-wrap:wrap;gap:2px 14px;padding:10px 0;align-items:baseline}
.rows>tbody>tr>*{display:block;padding:0!important;width:auto!important}
.rows>tbody>tr>th{flex:1 0 100%}
.cols>tbody>tr{padding:10px 14px}.cols caption{padding:14px 14px 8px}
.cols td.f{flex:0 0 110px}.cols .d{flex:1 0 100%}
.rows .n:empty,.rows td:empty{display:none}
.runs .n:nth-child(3)::before{content:"took "}.runs .n:nth-child(6)::before{content:"from journal "}
.runs .n:nth-child(4)::after{content:" calls"}.runs .n:nth-child(5)::after{content:" credits"}.runs .n:nth-child(7)::after{content:" retries"}.runs .n:nth-child(8)::after{content:" parts"}.runs th::before{content:"run "}
.cols td.n::after{content:" distinct"}.drift .n:nth-child(3)::after{content:" records"}.unexported .n::after{content:" ids"}.files .n:nth-child(2)::after{content:" rows"}.files .n:nth-child(3)::after{content:" files"}
.unexported td:nth-child(2){width:auto}
}
@media print{
:root,:root[data-theme=dark],:root:not([data-theme=light]){color-scheme:light;--page:#fff;--card:#fff;--line:#d5dbe2;--text:#000;--soft-text:#444;--link:#000;--exported:#1c6e8c;--missing:#b97a00;--invalid:#a23b86;--duplicate:#717a90;--failed:#c0392b;--pending:#b9c3cf;--soft:#cfe3ea;--paused:#f3d9a0;--waiting:#e6d5f0;--nothing:#e9edf1;--track:#e9edf1;--grid:#dfe4ea;--on:#fff;--good-bg:#fff;--good:#0c5c31;--bad-bg:#fff;--bad:#8f1f12;--live-bg:#fff;--live:#0f4c75}
body{font-size:11px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
nav,button,.tools,.cols details,.traits>div{display:none!important}.traits{grid-template-columns:minmax(0,1fr)}
.wrap{max-width:none;padding:0}
header .wrap{padding:0 0 6px}
h2{margin:18px 0 8px;font-size:16px;break-after:avoid}h3,caption{break-after:avoid}
.card{padding:10px 12px;margin-bottom:8px}.flush{padding:0}.fates{padding:8px 12px}
.tiles{grid-template-columns:repeat(6,minmax(0,1fr));gap:6px;margin:8px 0}.tiles li{padding:8px}.tiles b,.equation b{font-size:15px}
.equation li{padding:8px 8px 8px 18px}
small,.note,thead th,.equation span,.tiles span,.cols td.f span{font-size:9.5px}
td,th{padding-top:2px;padding-bottom:2px}
tr,.tiles,.equation,figure,.steps .card{break-inside:avoid}
.cols td.f svg{margin:3px 0 0}.cols caption{padding:10px 12px 6px}
.spark{height:18px}
}
`;
