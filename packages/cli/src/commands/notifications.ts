import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { leaf } from '../options.ts'
import { note, writeJson, writeTable } from '../output.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

const types = Object.keys(notificationTypes) as NotificationType[]

export function register(command: Command): void {
  leaf(command, 'list', 'Which events are mailed to you').action(list)
  leaf(command, 'on <types...>', 'Have these mailed').action((given: string[], flags: Flags) =>
    change(given, true, flags),
  )
  leaf(command, 'off <types...>', 'Have these mailed no longer').action((given: string[], flags: Flags) =>
    change(given, false, flags),
  )
}

async function list(flags: Flags): Promise<void> {
  const { client } = await openSession(flags)
  const { prefs } = await client.notifications.get()
  if (flags.json) return writeJson({ prefs })
  writeTable(
    ['type', 'mailed', 'when'],
    types.map((type) => [type, prefs[type] ? 'yes' : 'no', notificationTypes[type].when]),
  )
}

async function change(given: string[], wanted: boolean, flags: Flags): Promise<void> {
  const unknown = given.filter((one) => !types.some((type) => type === one))
  if (unknown.length > 0) throw usage(`there is no type ${unknown.join(', ')}`, `known: ${types.join(', ')}`)
  const { client } = await openSession(flags)
  const { prefs } = await client.notifications.put({
    body: { prefs: Object.fromEntries(given.map((type) => [type, wanted])) },
  })
  note(wanted ? `mailed from now on: ${given.join(', ')}` : `mailed no longer: ${given.join(', ')}`)
  if (flags.json) writeJson({ prefs })
}
