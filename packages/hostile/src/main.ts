import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { formatPaper } from './paper.ts'
import { attacks, groups, play } from './play.ts'
import { openStage } from './stage.ts'
import { formatTables, isExpected } from './table.ts'

// Plays every attack of a hostile server against the command line, the SDK and the proxy, and prints what each client did.
//
//   npm run hostile                      all attacks; fails if docs/hostile-server.md says something else
//   npm run hostile -- --only two-heads  one attack
//   npm run hostile -- --write           writes the tables into docs/hostile-server.md

const page = new URL('../../../docs/hostile-server.md', import.meta.url)
const marks = {
  tables: ['<!-- Written by `npm run hostile -- --write`. -->', '<!-- End of the tables. -->'],
  paper: ['<!-- Written from packages/hostile/src/paper.ts. -->', '<!-- End of the attacks of the paper. -->'],
} as const

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const chosen = attacks.filter(({ id }) => values.only === undefined || id === values.only)
if (chosen.length === 0) {
  console.error(`no attack is called ${values.only}; there are: ${attacks.map(({ id }) => id).join(', ')}`)
  process.exit(2)
}

console.error('starting a server and an organization with a signed directory…')
const stage = await openStage()
try {
  const cells = await play(stage, chosen, ({ attack, client, situation, outcome }) =>
    console.log(
      `${attack.id}, ${client}, with ${situation}: ${outcome.seen}${outcome.line === '' ? '' : `: ${outcome.line}`}`,
    ),
  )
  const unexpected = cells.filter((cell) => !isExpected(cell))
  for (const { attack, client, situation, outcome } of unexpected)
    console.error(`not allowed by the threat model: ${attack.id}, ${client}, with ${situation}: ${outcome.seen}`)
  if (unexpected.length === 0)
    console.error(`the threat model allows all ${cells.length} outcomes; docs/hostile-server.md says why for each`)
  process.exitCode = unexpected.length === 0 ? 0 : 1
  if (values.only === undefined) compareOrWrite({ tables: formatTables(cells, groups), paper: formatPaper() })
} finally {
  await stage.close()
}

function compareOrWrite(parts: Readonly<Record<keyof typeof marks, string>>): void {
  const text = readFileSync(page, 'utf8')
  const written = Object.entries(parts).reduce((before, [part, table]) => {
    const [from, to] = marks[part as keyof typeof marks]
    const [start, end] = [before.indexOf(from) + from.length, before.indexOf(to)]
    return `${before.slice(0, start)}\n\n${table}\n\n${before.slice(end)}`
  }, text)
  if (values.write) writeFileSync(page, written)
  else if (written !== text) {
    console.error('docs/hostile-server.md says something else: read the lines above, then run with --write')
    process.exitCode = 1
  }
}
