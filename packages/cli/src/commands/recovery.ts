import type { Command } from 'commander'
import { inOrg } from '../frame.ts'
import { accepting, confirmable, explained, formerly, gather, leaf } from '../options.ts'
import { cancel, complete, contribute, drill, share } from '../recovery/ceremony.ts'
import { checkRotate, cover, disable, parseSetup, rotate, setup, status, trust } from '../recovery/configure.ts'
import { request } from '../recovery/request.ts'

const planned = (command: Command) =>
  accepting(confirmable(command))
    .option('--custodian <member>', 'member who holds a share, by e-mail address; repeatable', gather)
    .option('--threshold <number>', 'how many shares are needed, at least 2')

export function register(command: Command): void {
  explained(
    command,
    'Each custodian holds a share of a recovery key that no machine has. Enough custodians together restore access for a person whose identity they checked. You forgot your passphrase? Run `skerry keys replace`, then ask an admin for `skerry recovery request <you>`.',
  )
  leaf(command, 'status', 'Show the recovery key, its environments, and open requests')
    .alias('show')
    .action(inOrg(status))
  planned(leaf(command, 'setup', 'Create the recovery key and give each custodian a share')).action(
    inOrg(setup, parseSetup),
  )
  planned(leaf(command, 'rotate', 'Replace the recovery key and all shares')).action(inOrg(rotate, checkRotate))
  accepting(leaf(command, 'cover', 'Let custodians recover the environments that you can read')).action(inOrg(cover))
  confirmable(leaf(command, 'trust', 'Accept a changed recovery key, after you compared its words')).action(
    inOrg(trust),
  )
  confirmable(leaf(command, 'disable', 'End recovery; custodians can no longer restore access')).action(inOrg(disable))
  leaf(command, 'share', 'Check that your share belongs to the recovery key').action(inOrg(share))
  formerly(
    formerly(
      leaf(command, 'request [holder]', 'Ask custodians to restore access of a member or a token'),
      '--user <member>',
    ),
    '--token <token>',
  )
    .option('--reason <text>', 'reason for the custodians and the audit log')
    .action(inOrg(request))
  leaf(command, 'contribute <request>', 'Give your share for a request, after you compared the words of the person')
    .option('--words <words>', 'the twelve words that the person told you (default: ask)')
    .action(inOrg(contribute))
  leaf(command, 'complete <request>', 'Restore access on this machine, after custodians gave their shares')
    .option('--only <env>', 'app/env or group:env (default: everything covered); repeatable', gather)
    .action(inOrg(complete))
  confirmable(leaf(command, 'cancel <request>', 'Cancel an open request for recovery')).action(inOrg(cancel))
  leaf(
    command,
    'drill [request]',
    'Start a drill, which rehearses a recovery, or finish it after enough custodians gave their shares',
  ).action(inOrg(drill))
}
