import { type Command, Option } from 'commander'
import { Failure } from '../failure.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'create <email>', 'Invite a person; their first sign-in with that address accepts')
    .addOption(new Option('--role <role>', 'member unless given').choices(['member', 'admin']).default('member'))
    .action(create)
  leaf(command, 'list', 'Pending invitations').action(list)
  confirmable(leaf(command, 'rm <invitation>', 'Take an invitation back, by its e-mail address or id')).action(remove)
}

async function create(email: string, flags: Flags & { role: 'member' | 'admin' }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { invite } = await session.client.invites.create({ params: { orgId }, body: { email, role: flags.role } })
  note(`invited ${invite.email} as ${invite.role}, until ${invite.expiresAt}`)
  note('once they have signed in and made their keys, give them environments with `skerry grant --user`')
  if (flags.json) writeJson({ invite })
  else writeLine(invite.id)
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { invites } = await session.client.invites.list({ params: { orgId } })
  if (flags.json) return writeJson({ invites })
  writeTable(
    ['e-mail', 'role', 'until', 'id'],
    invites.map((one) => [one.email, one.role, one.expiresAt, one.id]),
  )
}

async function remove(who: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { invites } = await session.client.invites.list({ params: { orgId } })
  const found = invites.find((one) => one.id === who || one.email === who)
  if (!found) throw new Failure('notFound', `there is no invitation of ${who}`, 'see `skerry invite list`')
  await confirmOrRefuse(`take the invitation of ${found.email} back`, flags)
  await session.client.invites.delete({ params: { orgId, inviteId: found.id } })
  note(`took the invitation of ${found.email} back`)
  if (flags.json) writeJson({ deleted: found.id })
}
