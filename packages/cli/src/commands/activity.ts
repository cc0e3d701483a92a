import type { Command } from 'commander'
import { activity, parseActivity } from '../activity/activity.ts'
import { signedIn } from '../frame.ts'
import { addressed, common } from '../options.ts'

export function register(command: Command): void {
  addressed(common(command))
    .option('--limit <number>', 'the newest so many, at most 500', '20')
    .option('--since <when>', 'only what happened since then: 2026-10-04T12:00:00Z, or so long ago, such as 2h')
    .addHelpText('after', helpAfter)
    .action(signedIn(activity, parseActivity))
}

const helpAfter = `
Shows the environment of the folder, or with --app and without --env the whole application. Admins see everything that the
audit log tells about it. Others see changes of secrets, and proposals.`
