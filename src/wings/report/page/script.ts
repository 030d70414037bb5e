/**
 * What the page's only script does: theme, finding a column, opening all, copying. Nothing else needs it. Its hash is in the
 * page's policy.
 */
export const script = `(() => {
const d = document, root = d.documentElement, one = (s) => d.querySelector(s), all = (s) => [...d.querySelectorAll(s)];
all('[data-script]').forEach((e) => { e.hidden = false; });
const theme = one('#theme'), system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
const say = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
theme.onclick = () => { root.dataset.theme = isDark() ? 'light' : 'dark'; say(); };
system.onchange = say;
say();
const find = one('#find'), open = one('#open');
if (find) find.oninput = () => {
const words = find.value.trim().toLowerCase();
let found = 0;
all('[data-column]').forEach((row) => {
row.hidden = !row.dataset.column.toLowerCase().includes(words);
if (!row.hidden) found += 1;
});
all('#columns .card').forEach((card) => { card.hidden = !card.querySelector('[data-column]:not([hidden])'); });
one('#found').textContent = words === '' ? '' : found + (found === 1 ? ' column' : ' columns');
};
if (open) open.onclick = () => {
const isOpen = open.getAttribute('aria-pressed') !== 'true';
open.setAttribute('aria-pressed', isOpen);
all('#columns details').forEach((e) => { e.open = isOpen; });
};
all('.copy').forEach((button) => {
button.onclick = async () => {
const code = button.parentNode.querySelector('code');
try { await navigator.clipboard.writeText(code.textContent); } catch {
getSelection().selectAllChildren(code);
d.execCommand('copy');
}
button.textContent = 'Copied';
};
});
})();`;
