import type { Command } from 'commander'
import {
  addressOf,
  linkPeople,
  makeOwner,
  NotPossible,
  nameOf,
  peopleOf,
  personOf,
} from '../features/people/operating.ts'
import { ownIssuer } from '../identity/session-tokens.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'
import { orgOf } from './given.ts'

interface Format {
  json?: boolean
}

const person = 'id or verified e-mail address of the person'

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('list')
    .option('--email <address>', 'only people with this address')
    .option('--org <org>', 'only members of this organization (id or slug)')
    .option('--json', 'print all fields as JSON')
    .description('People, how they sign in, and their organizations')
    .action((options: ListOptions) => withDatabase((operation) => list(operation, options)))
  command
    .command('link')
    .argument('<person>', `${person} who stays, with memberships and keys`)
    .argument('<other>', `${person} whose sign-in <person> gets; <other> is deleted`)
    .option('--json', 'the result as JSON')
    .description(
      'Give a person the sign-in and memberships of another one, for example after a change of the identity provider',
    )
    .action((kept: string, other: string, format: Format) =>
      withDatabase((operation) => link(operation, kept, other, format)),
    )
  command
    .command('make-owner')
    .argument('<person>', person)
    .requiredOption('--org <org>', 'id or slug of the organization')
    .option('--json', 'the result as JSON')
    .description('Make a person an owner of an organization; this gives no keys')
    .action((given: string, options: Format & { org: string }) =>
      withDatabase((operation) => own(operation, given, options)),
    )
}

interface ListOptions extends Format {
  email?: string
  org?: string
}

async function list({ db, print }: Operation, { email, org, json }: ListOptions): Promise<void> {
  const orgId = org === undefined ? null : (await orgOf(db, org)).id
  const people = await peopleOf(db, { email: email ?? null, orgId })
  if (json) return print(JSON.stringify({ people }, null, 2))
  if (people.length === 0) return print('No people found.')
  for (const listed of people) {
    const { id, subject, issuer, memberships } = listed
    const orgs = memberships.map(({ slug, role }) => `${slug} (${role})`).join(', ') || 'no organization'
    print(`${id}  ${addressOf(listed) ?? subject}  ${signInOf(issuer)}  ${orgs}`)
  }
}

const signInOf = (issuer: string): string => (issuer === ownIssuer ? 'built-in sign-in' : issuer)

async function link({ db, print }: Operation, given: string, givenOther: string, { json }: Format): Promise<void> {
  const linked = await refusing(async () => {
    const [kept, other] = [await personOf(db, given), await personOf(db, givenOther)]
    return { ...(await linkPeople({ db, now }, kept, other)), name: nameOf(kept) }
  })
  const { name, ...result } = linked
  if (json) return print(JSON.stringify(result, null, 2))
  print(
    `${name} signs in as ${result.subject} (${signInOf(result.issuer)}) from now on. The account ${result.mergedUserId} was deleted.`,
  )
  if (result.joined.length > 0)
    print(`${name} has joined ${result.joined.join(', ')}. Somebody with a key there has to share it.`)
}

async function own({ db, print }: Operation, given: string, { org, json }: Format & { org: string }): Promise<void> {
  const { id: orgId } = await orgOf(db, org)
  const { found, from } = await refusing(async () => {
    const found = await personOf(db, given)
    return { found, from: await makeOwner({ db, now }, found, orgId) }
  })
  if (json) return print(JSON.stringify({ userId: found.id, orgId, formerRole: from }, null, 2))
  if (from === 'owner') return print(`${nameOf(found)} is an owner of ${org} already.`)
  print(`${nameOf(found)} is an owner of ${org}.`)
  print('This gives no keys: secrets stay unreadable until somebody with a key shares it, or a recovery is done.')
}

const now = () => new Date()

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw error instanceof NotPossible ? new Refused(error.message) : error
  })
}
