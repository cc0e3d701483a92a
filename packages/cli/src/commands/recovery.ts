import type { Command } from 'commander'
import { inOrg } from '../frame.ts'
import { accepting, confirmable, gather, leaf } from '../options.ts'
import { cancel, complete, contribute, drill, request, share } from '../recovery/ceremony.ts'
import { cover, disable, rotate, setup, status, trust } from '../recovery/configure.ts'

const planned = (command: Command) =>
  accepting(confirmable(command))
    .option('--custodian <member>', 'who holds a share, by e-mail address or id; repeatable', gather)
    .option('--threshold <number>', 'how many shares open the recovery key, from 2')

export function register(command: Command): void {
  command.addHelpText(
    'after',
    `
Custodians each hold a share of a recovery key that no machine has. Enough of them together open what it covers, for a
person whom they have compared words with. Forgot the passphrase? \`skerry keys replace\`, then ask an admin for
\`skerry recovery request --user <you>\`.`,
  )
  planned(leaf(command, 'setup', 'Make a recovery key, and give each custodian a share')).action(inOrg(setup))
  leaf(command, 'status', 'The recovery key, what it covers, and what waits').action(inOrg(status))
  planned(leaf(command, 'rotate', 'Make another recovery key, with other shares')).action(inOrg(rotate))
  accepting(leaf(command, 'cover', 'Cover what you can read and is not covered yet')).action(inOrg(cover))
  confirmable(leaf(command, 'trust', 'Accept another recovery key, once its words were compared')).action(inOrg(trust))
  confirmable(leaf(command, 'disable', 'End recovery')).action(inOrg(disable))
  leaf(command, 'share', 'Whether your share opens, and is one of the recovery key').action(inOrg(share))
  leaf(command, 'request', 'Ask custodians for their shares; for yourself unless said')
    .option('--user <id or e-mail>', 'for this member')
    .option('--token <id>', 'for this service token')
    .option('--reason <text>', 'why, for custodians and the trail')
    .action(inOrg(request))
  leaf(command, 'contribute <request>', 'Give your share, once the target’s words were compared')
    .option('--words <words>', 'the twelve words that the target told you, where nobody can be asked')
    .action(inOrg(contribute))
  leaf(command, 'complete <request>', 'Put the shares together, on the target’s own machine')
    .option('--only <environment>', 'app/env or group:env; repeatable; all that is covered unless given', gather)
    .action(inOrg(complete))
  confirmable(leaf(command, 'cancel <request>', 'Cancel an open request')).action(inOrg(cancel))
  leaf(command, 'drill [request]', 'Begin a drill, or end it once enough custodians contributed').action(inOrg(drill))
}
