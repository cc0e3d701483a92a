import { type Command, Option } from 'commander'
import { approve, reject, withdraw } from '../changes/decide.ts'
import { checkList, list } from '../changes/list.ts'
import { parsePropose, propose } from '../changes/propose.ts'
import { show } from '../changes/show.ts'
import { atPlace, inOrg, signedIn } from '../frame.ts'
import { addressed, gather, leaf, noted, reading } from '../options.ts'

const statuses = ['open', 'applied', 'superseded', 'rejected', 'withdrawn', 'any']

const reviewed = (command: Command) => command.option('--comment <text>', 'for the proposer and other reviewers')

export function register(command: Command): void {
  addressed(leaf(command, 'list', 'Proposed changes, newest first; of one environment with --env'))
    .addOption(new Option('--status <status>', 'which ones').choices(statuses).default('open'))
    .option('--limit <number>', 'newest so many', '50')
    .action(signedIn(list, checkList))
  noted(reading(addressed(leaf(command, 'propose [file]', 'Propose the values of a file as one change; - is stdin'))))
    .option('--delete <NAME,...>', 'and that these secrets go; repeatable', gather)
    .option('--dry-run', 'show what would be proposed')
    .action(atPlace(propose, parsePropose))
  leaf(command, 'show <id>', 'A change, or all of a group: each proposed value against the current one, decrypted here')
    .option('--reveal', 'show values')
    .action(inOrg(show))
  reviewed(leaf(command, 'approve <ids...>', 'Approve changes; the last approval that is needed applies one')).action(
    inOrg(approve),
  )
  reviewed(leaf(command, 'reject <ids...>', 'Reject changes; one rejection is enough')).action(inOrg(reject))
  leaf(command, 'withdraw <ids...>', 'Take changes back: your own, or any as an admin').action(inOrg(withdraw))
  command.addHelpText('after', '\nOnly an admin who is signed in as a person approves and rejects; a token cannot.')
}
