import type { Command } from 'commander'
import { type DeadLetter, deleteDeadLetters, listDeadLetters, retryDeadLetters } from '../jobs/dead-letters.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('list')
    .description('Jobs that failed for good, oldest first')
    .option('--json', 'all that is known of them, as JSON')
    .action(({ json }: { json?: boolean }) => withDatabase((operation) => list(operation, json ?? false)))
  command
    .command('show')
    .argument('<id>')
    .description('One of them, with what it was given and how it failed last, as JSON')
    .action((id: string) => withDatabase((operation) => show(operation, id)))
  command
    .command('retry')
    .argument('[ids...]')
    .option('--all', 'all of them')
    .description('Put them back into their queues')
    .action((ids: string[], { all }: Choice) => withDatabase((operation) => retry(operation, ids, all ?? false)))
  command
    .command('drop')
    .argument('[ids...]')
    .option('--all', 'all of them')
    .description('Forget them')
    .action((ids: string[], { all }: Choice) => withDatabase((operation) => drop(operation, ids, all ?? false)))
}

interface Choice {
  all?: boolean
}

async function list({ db, print }: Operation, json: boolean): Promise<void> {
  const letters = await listDeadLetters(db)
  if (json) return print(JSON.stringify({ jobs: letters }, null, 2))
  if (letters.length === 0) return print('No job has failed for good.')
  for (const { id, job, failedAt, attempts, error } of letters)
    print(
      `${id}  ${failedAt}  ${job}  ${attempts} attempts  ${error.reason ?? error.code ?? error.error ?? ''}`.trimEnd(),
    )
}

async function show({ db, print }: Operation, id: string): Promise<void> {
  const [letter] = await choose(db, [id], false)
  print(JSON.stringify(letter, null, 2))
}

async function retry({ db, print }: Operation, ids: string[], all: boolean): Promise<void> {
  const chosen = await choose(db, ids, all)
  const count = await retryDeadLetters(
    db,
    chosen.map(({ id }) => id),
  )
  print(`${count} ${count === 1 ? 'job is' : 'jobs are'} back in the queue; a running server takes them.`)
}

async function drop({ db, print }: Operation, ids: string[], all: boolean): Promise<void> {
  const chosen = await choose(db, ids, all)
  const count = await deleteDeadLetters(
    db,
    chosen.map(({ id }) => id),
  )
  print(`${count} ${count === 1 ? 'job is' : 'jobs are'} forgotten.`)
}

/** An unknown id refuses the whole command, so that a mistyped id changes nothing. */
async function choose(db: Operation['db'], ids: string[], all: boolean): Promise<DeadLetter[]> {
  if (all === ids.length > 0) throw new Refused('Give the ids of jobs, or --all.')
  const letters = await listDeadLetters(db)
  if (all) return letters
  const byId = new Map(letters.map((letter) => [letter.id, letter]))
  return ids.map((id) => {
    const letter = byId.get(id)
    if (!letter) throw new Refused(`No failed job has the id ${id}; \`skerry-server jobs list\` shows those there are.`)
    return letter
  })
}
