import type { Command } from 'commander'
import { inOrg } from '../frame.ts'
import { accepting, confirmable, explained, leaf, overwriting } from '../options.ts'
import { offboard } from './offboard.ts'
import { checkShow, show } from './show.ts'

/** Adds `skerry members offboard` and `skerry members offboarding`. */
export function registerOffboarding(command: Command): void {
  explained(
    accepting(
      confirmable(
        leaf(command, 'offboard <member>', 'Remove a person, and replace the environment keys that they had'),
      ),
    ),
    'It revokes the tokens, machine clients and agents that the person made, and ends their leases. Then it re-keys each environment whose key you have. Run it again to continue. It also works for a person who was removed before.',
  )
    .option('--drop-readers', 'do not give the new keys to rotation and sync, through which the server can read')
    .action(inOrg(offboard))
  explained(
    overwriting(
      confirmable(
        leaf(
          command,
          'offboarding [member] [row...]',
          'List offboardings, show the remaining work of one offboarding, or change rows of its list',
        ),
      ),
    ),
    'Name a row as the column WHAT shows it: shop/production for a re-key, shop/production/API_KEY for a value, `recovery` for the recovery share. A report ends in .csv or .md.',
  )
    .option('--done', 'the rows’ values were replaced at their source')
    .option('--not-needed', 'mark the rows as not needed')
    .option('--reopen', 'open the rows again')
    .option('--hand-to <admin>', 'hand the rows to this admin, who gets a mail')
    .option('--remind', 'mail the admins again to whom the rows were handed')
    .option('--note <text>', 'note of the rows; an empty text deletes the note')
    .option('--report <file>', 'write the offboarding to this file')
    .option('--finish', 'finish the offboarding; rows that are open stay open')
    .action(inOrg(show, checkShow))
}
