import { vaultConnectionStatuses, vaultDeliveryStatuses, vaultEventTypes } from '@skerry/contract/vault/facts'
import { type Command, Option } from 'commander'
import { inOrg, signedIn } from '../frame.ts'
import { confirmable, explained, gather, leaf, noun } from '../options.ts'
import * as connections from '../vault/connections.ts'
import * as executor from '../vault/executor.ts'
import { atProject } from '../vault/find.ts'
import * as keys from '../vault/keys.ts'
import * as projects from '../vault/projects.ts'
import * as webhooks from '../vault/webhooks.ts'

export function register(command: Command): void {
  registerProjects(noun(command, 'project', 'Projects: products whose users connect their accounts', ['projects']))
  registerKeys(noun(command, 'key', 'Platform keys for the backend of a product', ['keys']))
  registerExecutor(noun(command, 'executor', 'Executor: the program that can open the credentials of a project'))
  registerConnections(noun(command, 'connection', 'Accounts that people have connected', ['connections']))
  registerWebhooks(noun(command, 'webhook', 'Webhooks that receive the events of a project', ['webhooks']))
}

/** A command on a project, which need not be named if there is only one. */
const inProject = (command: Command, usage: string, summary: string) =>
  leaf(command, usage, summary).option('--project <project>', 'by name or id; the only one unless given')

/** A command that needs a person at a browser who has just entered a second factor. */
const atBrowser = (command: Command, usage: string, summary: string) =>
  inProject(command, usage, summary).option('--no-browser', 'only print the address')

const secondFactor = 'The dashboard asks for a second factor first.'

const display = (command: Command) =>
  command
    .option('--shown-as <name>', 'name that people read on the Connect page')
    .option('--logo <url>', 'https or data URL of an image')
    .option('--accent <color>', 'color such as #3366cc')
    .option('--return-origin <origin>', 'origin that people may return to; repeatable', gather)

function registerProjects(command: Command): void {
  leaf(command, 'ls', 'List the projects of the vault').action(signedIn(projects.list))
  display(leaf(command, 'create <name>', 'Create a project: a product whose users connect their accounts')).action(
    inOrg(projects.create),
  )
  leaf(command, 'show <project>', 'Show a project, its platform keys and its executor').action(signedIn(projects.show))
  display(leaf(command, 'edit <project>', 'Change settings of a project; other settings stay'))
    .option('--name <name>', 'new name')
    .action(signedIn(projects.update))
  leaf(command, 'enable <project>', 'Allow the use of a disabled project').action(signedIn(projects.enable))
  confirmable(
    leaf(command, 'disable <project>', 'Stop a project: nobody can use its credentials or connect accounts'),
  ).action(signedIn(projects.disable))
}

function registerKeys(command: Command): void {
  inProject(command, 'ls', 'List platform keys').action(atProject(keys.list))
  explained(
    atBrowser(command, 'create', 'Create a platform key, with which the backend of your product calls the vault'),
    secondFactor,
  ).action(atProject(keys.create))
  confirmable(inProject(command, 'revoke <key>', 'Make a platform key invalid at once')).action(atProject(keys.revoke))
}

function registerExecutor(command: Command): void {
  inProject(command, 'status', 'Show the active executor: the program that uses the connected accounts')
    .alias('show')
    .action(atProject(executor.show))
  explained(atBrowser(command, 'register-code', 'Create a code for registering an executor'), secondFactor).action(
    atProject(executor.registerCode),
  )
  confirmable(
    inProject(command, 'disable', 'Disable the executor; nobody can use credentials until another executor registers'),
  ).action(atProject(executor.disable))
}

function registerConnections(command: Command): void {
  inProject(command, 'ls', 'List connections: the accounts that people have connected, oldest first')
    .option('--user-ref <ref>', 'only connections of this person')
    .addOption(new Option('--status <status>', 'only with this status').choices(vaultConnectionStatuses))
    .option('--limit <number>', 'at most this many; 0 is all', '100')
    .action(atProject(connections.list, connections.parseList))
  inProject(command, 'show <connection>', 'Show a connection').action(atProject(connections.show))
  confirmable(inProject(command, 'revoke <connection>', 'Delete the credentials of a connection')).action(
    atProject(connections.revoke),
  )
}

function registerWebhooks(command: Command): void {
  const types = vaultEventTypes.join(', ')
  inProject(command, 'ls', 'List webhooks, and whether deliveries arrive').action(atProject(webhooks.list))
  inProject(command, 'create <url>', 'Create a webhook, and print its signing secret once, to stdout')
    .option('--event <type>', `event to send: ${types} (default: all); repeatable`, gather)
    .option('--description <text>', 'description for people')
    .action(atProject(webhooks.create, webhooks.parseCreate))
  inProject(command, 'show <webhook>', 'Show a webhook').action(atProject(webhooks.show))
  inProject(command, 'edit <webhook> [url]', 'Change settings of a webhook; the signing secret stays')
    .option('--event <type>', `event to send, in place of the events until now: ${types}; repeatable`, gather)
    .option('--description <text>', 'description for people; an empty one deletes it')
    .action(atProject(webhooks.update, webhooks.parseUpdate))
  inProject(command, 'enable <webhook>', 'Send events to a disabled webhook again, first the waiting ones').action(
    atProject(webhooks.enable),
  )
  confirmable(inProject(command, 'disable <webhook>', 'Stop sending events to a webhook')).action(
    atProject(webhooks.disable),
  )
  confirmable(inProject(command, 'rm <webhook>', 'Delete a webhook with its waiting events')).action(
    atProject(webhooks.remove),
  )
  inProject(command, 'test <webhook>', 'Send a sample event to a webhook').action(atProject(webhooks.test))
  inProject(command, 'deliveries <webhook>', 'List the events of the last 30 days for a webhook, newest first')
    .addOption(new Option('--status <status>', 'only with this status').choices(vaultDeliveryStatuses))
    .option('--limit <number>', 'at most this many; 0 is all', '50')
    .action(atProject(webhooks.deliveries, webhooks.parseDeliveries))
  inProject(command, 'redeliver <webhook> <delivery>', 'Send an event to a webhook again, with the same id').action(
    atProject(webhooks.redeliver),
  )
}
