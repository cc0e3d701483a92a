import { cliLogin } from '@skerry/contract/cli-login'
import { newId, newSecret } from '../../server/src/http/context.ts'
import type { World } from '../../server/test/world.ts'

/** Every page that one can go to, and what it shows when it is there: for screenshots and accessibility. */
export const pages = [
  { name: 'organization', path: '/orgs/acme-co', shows: 'You are owner' },
  { name: 'changes', path: '/orgs/acme-co/changes', shows: 'Nothing waits' },
  { name: 'members', path: '/orgs/acme-co/members', shows: 'No one is invited' },
  { name: 'tokens', path: '/orgs/acme-co/tokens', shows: 'No service token yet' },
  { name: 'honey-tokens', path: '/orgs/acme-co/honey-tokens', shows: 'No decoy is laid out' },
  { name: 'audit', path: '/orgs/acme-co/audit', shows: 'Organization created' },
  { name: 'settings', path: '/orgs/acme-co/settings', shows: 'Every member needs a second factor' },
  { name: 'keyring', path: '/account/keyring', shows: 'The key with which you read values' },
  { name: 'signing-in', path: '/account/signing-in', shows: 'Authenticator app' },
  { name: 'cli-sessions', path: '/account/cli-sessions', shows: 'Terminals that act for you' },
  { name: 'notifications', path: '/account/notifications', shows: 'you are invited' },
  { name: 'cli-code', path: '/cli', shows: 'Enter the code' },
  { name: 'no-such-page', path: '/account/none', shows: 'There is no such page' },
]

/** What `skerry login` sends. */
export async function askForCliSession(world: World): Promise<{ code: string; sessionId: string }> {
  const sessionId = newId('cliSession')
  const body = { sessionId, tokenHash: newSecret(), deviceLabel: 'ada@thinkpad', client: 'skerry-cli/0.1.0' }
  const answer = await world.call(cliLogin.create, { body })
  if (answer.error) throw new Error(answer.error.message)
  return { code: answer.body.code, sessionId }
}
