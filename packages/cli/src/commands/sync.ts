import { type Command, Option } from 'commander'
import { inOrg, signedIn, withoutSession } from '../frame.ts'
import { addressed, confirmable, gather, leaf } from '../options.ts'
import { bind, checkEdit, edit, unbind } from '../sync/bindings.ts'
import { connect, disconnect, list, parseConnect, providers, rename, replace, verify } from '../sync/connections.ts'
import { gatherField } from '../sync/fields.ts'
import { list as listRuns, parseList, plan, run } from '../sync/runs.ts'
import { takesSyncProvider } from '../vendors.ts'

export function register(command: Command): void {
  takesSyncProvider(leaf(command, 'providers [provider]', 'Kinds of destinations; of one, its fields')).action(
    withoutSession(providers),
  )
  takesSyncProvider(confirmable(leaf(command, 'connect <provider>', 'Give the server a credential of a destination')))
    .option('--name <name>', 'what to call the connection; the provider unless given')
    .option('--set <field=value>', 'a field of the connection; repeatable', gatherField)
    .option('--file <path>', 'file that holds the credential; - for stdin')
    .addHelpText('after', connectHelp)
    .action(inOrg(connect, parseConnect))
  leaf(command, 'verify <connection>', 'Ask a destination whether the credential works there')
    .option('--to <field=value>', 'a field of the destination; repeatable', gatherField)
    .action(signedIn(verify))
  confirmable(settings(addressed(leaf(command, 'bind <connection>', 'Push an environment to a destination'))))
    .addHelpText('after', bindHelp)
    .action(signedIn(bind))
  leaf(command, 'list', 'Connections and bindings, and what the server can read for them').action(signedIn(list))
  leaf(command, 'plan <binding>', 'What a push would do, in names').action(signedIn(plan))
  leaf(command, 'run <binding>', 'Push now')
    .option('--adopt <names>', 'names there that somebody else wrote and that are overwritten', gather)
    .action(signedIn(run))
  leaf(command, 'runs [binding]', 'The history of pushes, newest first')
    .option('--limit <number>', 'newest so many; 0: all', '20')
    .action(inOrg(listRuns, parseList))
  confirmable(settings(leaf(command, 'edit <binding>', 'Change a binding')))
    .option('--no-adopt', 'leave names that somebody else wrote there alone')
    .option('--pause', 'push nothing until it is resumed')
    .option('--resume', 'push again')
    .option('--keys', 'give the connection the keys of groups that were composed later')
    .action(signedIn(edit, checkEdit))
  confirmable(leaf(command, 'replace <connection>', 'Replace a connection’s credential'))
    .option('--file <path>', 'file that holds the credential; - for stdin')
    .action(inOrg(replace))
  leaf(command, 'rename <connection> <name>', 'Give a connection another name').action(inOrg(rename))
  confirmable(leaf(command, 'unbind <binding>', 'Push an environment no more; what was pushed stays')).action(
    signedIn(unbind),
  )
  confirmable(leaf(command, 'disconnect <connection>', 'Delete a connection with its bindings')).action(
    signedIn(disconnect),
  )
}

const settings = (command: Command): Command =>
  command
    .option('--to <field=value>', 'a field of the destination; repeatable', gatherField)
    .option('--include <names>', 'these alone; * stands for any characters', gather)
    .option('--exclude <names>', 'all but these', gather)
    .option('--prefix <text>', 'put before each name')
    .option('--suffix <text>', 'put behind each name')
    .addOption(new Option('--case <letters>', 'of the names there').choices(['upper', 'lower', 'keep']))
    .addOption(new Option('--on-delete <what>', 'with names that are no longer pushed').choices(['keep', 'delete']))
    .addOption(new Option('--mode <mode>', 'auto: soon after each change').choices(['auto', 'manual']))
    .option('--adopt', 'overwrite names that somebody else wrote there')

const connectHelp = `
\`skerry sync providers <provider>\` tells its fields and what the credential must be allowed to do. On a terminal
each is asked for. Elsewhere give fields with --set, and the credential with --file or on stdin: never as an argument.`

const bindHelp = `
The keys of the environment and of its groups are wrapped to the connection, so the server can read them. Shows what
the first push would do, and asks before it. Without --mode manual, each change is pushed by itself from then on.`
