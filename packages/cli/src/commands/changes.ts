import { type Command, Option } from 'commander'
import { approve, reject, withdraw } from '../changes/decide.ts'
import { checkList, list } from '../changes/list.ts'
import { parsePropose, propose } from '../changes/propose.ts'
import { show } from '../changes/show.ts'
import { atPlace, inOrg, signedIn } from '../frame.ts'
import { accepting, addressed, confirmable, explained, gather, leaf, noted, reading } from '../options.ts'

const statuses = ['open', 'applied', 'superseded', 'rejected', 'withdrawn', 'any']

const reviewed = (command: Command) =>
  command
    .option('--comment <text>', 'comment for the proposer and the other approvers')
    .addOption(new Option('--note <text>', 'the same as --comment').conflicts('comment').hideHelp())
    .addOption(new Option('--reason <text>', 'the same as --comment').conflicts(['comment', 'note']).hideHelp())

/** Accepts `--yes`, which `approve` needs: a script decides with one set of options. These commands never ask. */
const unasked = (command: Command) => command.addOption(new Option('-y, --yes').hideHelp())

export function register(command: Command): void {
  explained(command, 'Only an admin who is signed in as a person can approve or reject a change. A token cannot.')
  addressed(leaf(command, 'ls', 'List open proposed changes, newest first; with --env, only those of one environment'))
    .addOption(new Option('--status <status>', 'only changes with this status').choices(statuses).default('open'))
    .option('--limit <number>', 'at most this many', '50')
    .action(signedIn(list, checkList))
  leaf(command, 'show <change>', 'Show a proposed change, with the proposed and the current values')
    .option('--reveal', 'show values')
    .action(inOrg(show))
  noted(
    reading(addressed(leaf(command, 'propose [file]', 'Propose the values of a file as one change; use - for stdin'))),
  )
    .option('--delete <NAME,...>', 'also propose to delete these secrets; repeatable', gather)
    .option('--dry-run', 'show the change without proposing it')
    .action(atPlace(propose, parsePropose))
  confirmable(
    accepting(reviewed(leaf(command, 'approve <changes...>', 'Approve changes; the last approval applies them'))),
  ).action(inOrg(approve))
  unasked(reviewed(leaf(command, 'reject <changes...>', 'Reject changes; one rejection is enough'))).action(
    inOrg(reject),
  )
  unasked(
    leaf(command, 'withdraw <changes...>', 'Withdraw changes that you proposed; an admin can withdraw any change'),
  ).action(inOrg(withdraw))
}
