/** CSS of the report page; light and dark by what the reader's system says. */
export const pageStyle = `
:root { --ground: #ffffff; --ink: #1d2430; --quiet: #5b6472; --rule: #dfe3e9; --flood: #f0ece0;
  --without: #c2410c; --with: #1d63c9; --offered: #8b93a1; --limit: #0f7a55; --missed: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181f; --ink: #e8ebf0; --quiet: #9aa4b2; --rule: #2d3541; --flood: #262218;
    --without: #f58b57; --with: #6da8ff; --offered: #7d8796; --limit: #4cc79a; --missed: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 8px; }
p { margin: 0 0 20px; color: var(--quiet); max-width: 70ch; }
.tables, .charts { display: grid; gap: 24px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); align-items: start; }
.tables { margin-bottom: 32px; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 8px; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top; }
th:first-child { text-align: left; font-weight: 400; padding-left: 0; }
thead th { color: var(--quiet); font-weight: 600; }
.met { color: var(--limit); } .missed { color: var(--missed); }
figure { margin: 0; }
figcaption { font-weight: 600; margin-bottom: 4px; }
.unit { font-weight: 400; color: var(--quiet); }
svg { display: block; width: 100%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--quiet); }
.grid { stroke: var(--rule); stroke-width: 1; }
.flood { fill: var(--flood); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.line.without { stroke: var(--without); } .line.with { stroke: var(--with); }
.line.offered { stroke: var(--offered); stroke-width: 1.5; stroke-dasharray: 2 3; } .line.limit { stroke: var(--limit); stroke-width: 2.5; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 4px 0 0; padding: 0; font-size: 0.875rem; color: var(--quiet); }
.legend i { display: inline-block; width: 18px; height: 0; margin-right: 6px; vertical-align: middle; border-top: 3px solid; }
i.without { border-color: var(--without); } i.with { border-color: var(--with); }
i.offered { border-color: var(--offered); border-top-style: dotted; } i.limit { border-color: var(--limit); }
`;
