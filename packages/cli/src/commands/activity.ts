import type { Command } from 'commander'
import { activity, parseActivity } from '../activity/activity.ts'
import { signedIn } from '../frame.ts'
import { addressed, common, explained } from '../options.ts'

export function register(command: Command): void {
  explained(addressed(common(command)), help)
    .option('--limit <number>', 'at most this many, up to 500', '20')
    .option('--since <when>', 'only later events: 2h, 7d or 2026-10-04T12:00:00Z')
    .option('--follow', 'write each event as it happens, one line each, until you press Ctrl-C')
    .action(signedIn(activity, parseActivity))
}

const help =
  'Shows the environment of the folder, or the whole application if you give --app without --env. Admins see all entries of the audit log. Other members see changed secrets and proposed changes. Reads that were allowed are not recorded, only changes and denied reads.'
