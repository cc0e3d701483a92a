import type { Command } from 'commander'
import { signedIn } from '../frame.ts'
import { common, gather } from '../options.ts'
import { checkRun, run } from '../provisioner/run.ts'

export function register(command: Command): void {
  common(command)
    .option('--allow <host:port>', 'target that it may connect to; repeatable; any unless given', gather)
    .addHelpText('after', helpAfter)
    .action(signedIn(run, checkRun))
}

const helpAfter = `
Signs in with SKERRY_TOKEN, and waits for work on the targets that name this service token: added with
\`skerry lease target add --provisioner <token id>\`. It connects to the server and to the targets, and listens nowhere.
It alone can read their admin credentials. SIGTERM ends it once the work in hand is done. Several may run with one token.`
