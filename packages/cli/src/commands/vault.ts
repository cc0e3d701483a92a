import { vaultConnectionStatuses, vaultDeliveryStatuses, vaultEventTypes } from '@skerry/contract/vault/facts'
import { type Command, Option } from 'commander'
import { inOrg, signedIn } from '../frame.ts'
import { confirmable, gather, leaf } from '../options.ts'
import * as connections from '../vault/connections.ts'
import * as executor from '../vault/executor.ts'
import { atProject } from '../vault/find.ts'
import * as keys from '../vault/keys.ts'
import * as projects from '../vault/projects.ts'
import * as webhooks from '../vault/webhooks.ts'

export function register(command: Command): void {
  registerProjects(group(command, 'project', 'Products whose users connect their accounts'))
  registerKeys(group(command, 'key', 'Platform keys, for the backend of a product'))
  registerExecutor(group(command, 'executor', 'What alone can open the credentials of a project'))
  registerConnections(group(command, 'connections', 'What people have connected'))
  registerWebhooks(group(command, 'webhooks', 'Where the events of a project are sent'))
}

const group = (command: Command, name: string, summary: string) =>
  command.command(name).description(summary).helpCommand(false)

/** A command on a project, which need not be named if there is only one. */
const inProject = (command: Command, usage: string, summary: string) =>
  leaf(command, usage, summary).option('--project <project>', 'by name or id; the only one unless given')

/** A command that needs a person at a browser who has just entered a second factor. */
const atBrowser = (command: Command, usage: string, summary: string) =>
  inProject(command, usage, summary).option('--no-browser', 'only print the address')

const display = (command: Command) =>
  command
    .option('--shown-as <name>', 'what people read on the Connect page')
    .option('--logo <url>', 'https, or a data URL of an image')
    .option('--accent <color>', 'such as #3366cc')
    .option('--return-origin <origin>', 'origin that people may be sent back to; repeatable', gather)

function registerProjects(command: Command): void {
  display(leaf(command, 'create <name>', 'Make a project')).action(inOrg(projects.create))
  leaf(command, 'list', 'List projects').action(signedIn(projects.list))
  leaf(command, 'show <project>', 'One project, its platform keys and its executor').action(signedIn(projects.show))
  display(leaf(command, 'update <project>', 'Change a project; what is left out stays'))
    .option('--name <name>', 'another name')
    .action(signedIn(projects.update))
  leaf(command, 'enable <project>', 'Let a disabled project be used again').action(signedIn(projects.enable))
  confirmable(leaf(command, 'disable <project>', 'Stop every release and every new link')).action(
    signedIn(projects.disable),
  )
}

function registerKeys(command: Command): void {
  atBrowser(command, 'create', 'Make a platform key: the dashboard asks for a second factor first').action(
    atProject(keys.create),
  )
  inProject(command, 'list', 'List platform keys').action(atProject(keys.list))
  confirmable(inProject(command, 'revoke <id>', 'End a platform key at once')).action(atProject(keys.revoke))
}

function registerExecutor(command: Command): void {
  atBrowser(
    command,
    'register-code',
    'Make a code with which an executor registers: the dashboard asks for a second factor first',
  ).action(atProject(executor.registerCode))
  inProject(command, 'show', 'The active executor').action(atProject(executor.show))
  confirmable(
    inProject(command, 'disable', 'End the executor: no credential can be read until another one registers'),
  ).action(atProject(executor.disable))
}

function registerConnections(command: Command): void {
  inProject(command, 'list', 'List connections, oldest first')
    .option('--user-ref <ref>', 'of one person')
    .addOption(new Option('--status <status>', 'in one state').choices(vaultConnectionStatuses))
    .option('--limit <number>', 'how many; 0 for all', '100')
    .action(atProject(connections.list, connections.parseList))
  inProject(command, 'show <id>', 'One connection').action(atProject(connections.show))
  confirmable(inProject(command, 'revoke <id>', 'Delete the credentials of a connection for good')).action(
    atProject(connections.revoke),
  )
}

function registerWebhooks(command: Command): void {
  const types = vaultEventTypes.join(', ')
  inProject(command, 'create <url>', 'Add a webhook; its signing secret is shown once, on stdout')
    .option('--event <type>', `${types}; all unless given; repeatable`, gather)
    .option('--description <text>', 'for people')
    .action(atProject(webhooks.create, webhooks.parseCreate))
  inProject(command, 'list', 'List webhooks, and how delivery goes').action(atProject(webhooks.list))
  inProject(command, 'show <webhook>', 'One webhook').action(atProject(webhooks.show))
  inProject(
    command,
    'update <webhook> [url]',
    'Change a webhook; what is left out stays, and so does its signing secret',
  )
    .option('--event <type>', `${types}; in the place of those before; repeatable`, gather)
    .option('--description <text>', 'for people; an empty one takes it away')
    .action(atProject(webhooks.update, webhooks.parseUpdate))
  inProject(command, 'enable <webhook>', 'Send to a disabled webhook again, first what waits').action(
    atProject(webhooks.enable),
  )
  confirmable(inProject(command, 'disable <webhook>', 'Send nothing to a webhook')).action(atProject(webhooks.disable))
  confirmable(inProject(command, 'rm <webhook>', 'Delete a webhook, and what still waits for it')).action(
    atProject(webhooks.remove),
  )
  inProject(command, 'test <webhook>', 'Send a ping now').action(atProject(webhooks.test))
  inProject(command, 'deliveries <webhook>', 'What was sent in the last 30 days, newest first')
    .addOption(new Option('--status <status>', 'in one state').choices(vaultDeliveryStatuses))
    .option('--limit <number>', 'how many; 0 for all', '50')
    .action(atProject(webhooks.deliveries, webhooks.parseDeliveries))
  inProject(command, 'redeliver <webhook> <delivery>', 'Send a delivery again, with the same id').action(
    atProject(webhooks.redeliver),
  )
}
