import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { type SignedIn, signedIn } from '../frame.ts'
import { leaf } from '../options.ts'
import { note, type Output, writeTable } from '../output.ts'
import type { Flags } from '../settings.ts'

const types = Object.keys(notificationTypes) as NotificationType[]

export function register(command: Command): void {
  leaf(command, 'ls', 'List events, and show which of them are mailed to you').action(signedIn(list))
  leaf(command, 'enable <events...>', 'Receive mail about events')
    .alias('on')
    .action(signedIn((given: string[], work: SignedIn) => change(given, true, work), checkTypes))
  leaf(command, 'disable <events...>', 'Receive no mail about events')
    .alias('off')
    .action(signedIn((given: string[], work: SignedIn) => change(given, false, work), checkTypes))
}

async function list({ session: { client } }: SignedIn): Promise<Output> {
  const { prefs } = await client.notifications.get()
  return {
    json: { prefs },
    text: () =>
      writeTable(
        ['type', 'mailed', 'when'],
        types.map((type) => [type, prefs[type] ? 'yes' : 'no', notificationTypes[type].when]),
      ),
  }
}

async function change(given: string[], wanted: boolean, { session: { client } }: SignedIn): Promise<Output> {
  const { prefs } = await client.notifications.put({
    body: { prefs: Object.fromEntries(given.map((type) => [type, wanted])) },
  })
  note(wanted ? `mailed from now on: ${given.join(', ')}` : `mailed no longer: ${given.join(', ')}`)
  return { json: { prefs } }
}

function checkTypes(_flags: Flags, given: string[]): void {
  const unknown = given.filter((one) => !types.some((type) => type === one))
  if (unknown.length > 0) throw usage(`there is no type ${unknown.join(', ')}`, `known: ${types.join(', ')}`)
}
