/**
 * A table in Markdown, with the bars in its cells escaped.
 *
 * @example markdownTable({ columns: ['A'], rows: [['1|2']] }) // '| A |\n|---|\n| 1\\|2 |'
 */
export function markdownTable({ columns, rows }: { columns: string[]; rows: string[][] }): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
