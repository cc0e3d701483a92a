import type { Command } from 'commander'
import { signedIn } from '../frame.ts'
import { common, explained, gather } from '../options.ts'
import { checkRun, run } from '../provisioner/run.ts'

export function register(command: Command): void {
  explained(common(command), help)
    .option('--allow <host:port>', 'target that it may connect to (default: any); repeatable', gather)
    .action(signedIn(run, checkRun))
}

const help =
  'Signs in with SKERRY_TOKEN and does the work of the lease targets that name this token (`skerry lease target create --provisioner`). It connects to the server and to the targets, and listens on no port. Only this program can read the admin credentials of these targets. On SIGTERM it finishes its work first. You can run several with one token.'
