import type { Command } from 'commander'
import { archiveTrail } from '../features/audit-proof/archiving.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'
import { orgOf } from './given.ts'

interface Options {
  before: string
  out: string
}

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('archive')
    .argument('<org>', 'id or slug of the organization')
    .requiredOption('--before <month>', 'such as 2026-01: entries of this month and later ones stay')
    .requiredOption('--out <path>', 'the file to write, which must not be there yet')
    .description('Move entries of its audit log into a file that can still be proven')
    .action((org: string, options: Options) => withDatabase((operation) => archive(operation, org, options)))
}

async function archive({ db, print }: Operation, given: string, { before, out }: Options): Promise<void> {
  const now = () => new Date()
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(before) || before > now().toISOString().slice(0, 7))
    throw new Refused('--before is a month such as 2026-01, and not one to come.')
  const org = await orgOf(db, given)
  const { entries, sha256 } = await archiveTrail({ db, now }, org, {
    before: `${before}-01T00:00:00.000Z`,
    path: out,
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new Refused(`${out} is there already.`)
    throw error.syscall === undefined ? error : new Refused(`Cannot write ${out}: ${error.code}.`)
  })
  print(`${entries} ${entries === 1 ? 'entry is' : 'entries are'} in ${out} and no longer in the database.`)
  print(`SHA-256 ${sha256}`)
}
