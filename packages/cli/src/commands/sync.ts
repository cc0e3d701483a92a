import { type Command, Option } from 'commander'
import { inOrg, type SignedIn, signedIn, withoutSession } from '../frame.ts'
import { addressed, confirmable, explained, formerly, gather, leaf } from '../options.ts'
import type { Confirmable } from '../settings.ts'
import { bind, checkEdit, edit, unbind } from '../sync/bindings.ts'
import {
  connect,
  disconnect,
  list,
  parseConnect,
  providers,
  rename,
  replace,
  trust,
  verify,
} from '../sync/connections.ts'
import { gatherField } from '../sync/fields.ts'
import { list as listRuns, parseList, plan, run } from '../sync/runs.ts'
import { takesSyncProvider } from '../vendors.ts'

export function register(command: Command): void {
  leaf(
    command,
    'ls',
    'List the connected platforms, the environments that are pushed to them, and what the server can therefore read',
  ).action(signedIn(list))
  takesSyncProvider(
    leaf(
      command,
      'providers [provider]',
      'List the platforms to which secrets can be pushed, or show the fields of one',
    ),
  ).action(withoutSession(providers))
  explained(
    takesSyncProvider(
      confirmable(leaf(command, 'connect <provider>', 'Make a connection: store a credential of a platform')),
    ),
    connectHelp.trim(),
  )
    .option('--name <name>', 'name of the connection (default: the provider)')
    .option('--set <field=value>', 'field of the connection; repeatable', gatherField)
    .option('--file <path>', 'file with the credential; use - for stdin (default: ask)')
    .action(inOrg(connect, parseConnect))
  leaf(command, 'verify <connection>', 'Check that the credential of a connection works')
    .option('--to <field=value>', 'field of the destination; repeatable', gatherField)
    .action(signedIn(verify))
  explained(
    confirmable(
      settings(
        addressed(
          leaf(
            command,
            'bind [connection]',
            'Make a binding, which pushes an environment to a destination, now and after each change',
          ),
        ),
      ),
    ),
    bindHelp.trim(),
  ).action(signedIn(bind))
  leaf(command, 'plan <binding>', 'Show which names a push would write and delete').action(signedIn(plan))
  leaf(command, 'run <binding>', 'Push an environment now')
    .option('--adopt <names>', 'overwrite these names, which somebody else wrote there', gather)
    .action(signedIn(run))
  leaf(command, 'runs [binding]', 'List pushes, newest first')
    .option('--limit <number>', 'at most this many; 0 is all', '20')
    .action(inOrg(listRuns, parseList))
  formerly(
    formerly(confirmable(settings(leaf(command, 'edit <binding>', 'Change the settings of a binding'))), '--pause'),
    '--resume',
  )
    .option('--no-adopt', 'do not overwrite names that somebody else wrote there')
    .option('--keys', 'give the connection the keys that it lacks, for example of a group that was composed later')
    .action(signedIn(edit, checkEdit))
  leaf(command, 'pause <binding>', 'Stop pushing an environment until you resume the binding').action(
    signedIn((binding: string, work: SignedIn) => edit(binding, { ...work, flags: { ...work.flags, pause: true } })),
  )
  confirmable(leaf(command, 'resume <binding>', 'Push an environment again, after a pause')).action(
    signedIn((binding: string, work: SignedIn<Confirmable>) =>
      edit(binding, { ...work, flags: { ...work.flags, resume: true } }),
    ),
  )
  confirmable(
    leaf(command, 'unbind <binding>', 'Stop pushing an environment; pushed secrets stay at the destination'),
  ).action(signedIn(unbind))
  confirmable(leaf(command, 'replace <connection>', 'Replace the credential of a connection'))
    .option('--file <path>', 'file with the new credential; use - for stdin (default: ask)')
    .action(inOrg(replace))
  confirmable(
    leaf(command, 'trust <connection>', 'Accept the new key of a connection, after the operator replaced it'),
  ).action(signedIn(trust))
  leaf(command, 'rename <connection> <name>', 'Change the name of a connection').action(inOrg(rename))
  confirmable(leaf(command, 'disconnect <connection>', 'Delete a connection and its bindings')).action(
    signedIn(disconnect),
  )
}

const settings = (command: Command): Command =>
  command
    .option('--to <field=value>', 'field of the destination; repeatable', gatherField)
    .option('--include <names>', 'push only these names; * matches any characters', gather)
    .option('--exclude <names>', 'push all names except these', gather)
    .option('--prefix <text>', 'text to put before each name')
    .option('--suffix <text>', 'text to put after each name')
    .addOption(new Option('--case <letters>', 'letters of the names there').choices(['upper', 'lower', 'keep']))
    .addOption(
      new Option('--on-delete <what>', 'keep or delete names that are no longer pushed').choices(['keep', 'delete']),
    )
    .addOption(new Option('--mode <mode>', 'auto pushes soon after each change').choices(['auto', 'manual']))
    .option('--adopt', 'overwrite names that somebody else wrote there')

const connectHelp = `
\`skerry sync providers <provider>\` shows the fields, and the rights that the credential needs. On a terminal, Skerry asks for them. Otherwise give fields with --set, and the credential with --file or on stdin.`

const bindHelp = `
The server gets the keys of the environment and of its groups, so it can read them. Skerry shows the first push and asks before it. After that, each change is pushed automatically, unless you give --mode manual.`
