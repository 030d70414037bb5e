import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
let total = 0;
for (const dir of ['src','test','bench','docs','data'])
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (!/\.m?ts$/.test(name)) continue;
    const path = `${dir}/${name}`;
    for (;;) {
      const text = readFileSync(path, 'utf8');
      const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      const edits: [number, number, string][] = [];
      const visit = (n: ts.Node): void => {
        if (ts.isSpreadAssignment(n)) {
          let e = n.expression;
          while (ts.isParenthesizedExpression(e)) e = e.expression;
          if (ts.isObjectLiteralExpression(e)) {
            const props = e.properties;
            const open = e.getStart(tree) + 1, close = e.end - 1;
            const end = props.length ? props[props.length-1]!.end : open;
            const rest = text.slice(end, close).replace(/^\s*,/, '');
            if (rest.trim() !== '') { console.log('comment at end', path, rest); }
            edits.push([n.getStart(tree), n.end, text.slice(open, end).trim() ]);
            return; // nested ones in the next round
          }
        }
        ts.forEachChild(n, visit);
      };
      visit(tree);
      if (!edits.length) break;
      total += edits.length;
      let out = text;
      for (const [a, b, s] of edits.reverse()) out = out.slice(0, a) + s + out.slice(b);
      writeFileSync(path, out);
    }
  }
console.log(total);
