import type { Command } from 'commander'

/** Describes `start` alone: without an argument, main.js starts the server before the commands are loaded. */
export function register(command: Command): void {
  command.addHelpText('after', '\nIn a checkout, `npm start` builds the pages first.')
}
