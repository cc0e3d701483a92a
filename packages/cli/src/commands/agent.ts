import type { Command } from 'commander'
import { checkCreate, create, list, remove, show, update } from '../agents/identities.ts'
import {
  checkEdit,
  checkRollback,
  edit,
  history,
  parsePublish,
  parseSimulate,
  publish,
  rollback,
  simulate,
} from '../agents/policies.ts'
import { parseReview, review } from '../agents/review.ts'
import { dispatch, parseDispatch, parseRevoke, revoke, tasks } from '../agents/tasks.ts'
import { inOrg, type SignedIn, signedIn } from '../frame.ts'
import { addressed, alias, confirmable, explained, gather, leaf, noun, overwriting } from '../options.ts'
import type { Confirmable } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'ls', 'List agents').action(signedIn(list))
  explained(
    addressed(leaf(command, 'create <slug>', 'Create an agent')),
    'An agent holds no key. With --app and --env it is bound to that environment.',
  )
    .option('--name <name>', 'display name (default: the slug)')
    .action(inOrg(create, checkCreate))
  leaf(command, 'show <agent>', 'Show an agent and its current policy').action(signedIn(show))
  leaf(command, 'enable <agent>', 'Let a disabled agent work again').action(
    signedIn((agent: string, work: SignedIn) => update(agent, true, work)),
  )
  confirmable(
    leaf(
      command,
      'disable <agent>',
      'Stop an agent: its tasks end, and proxies refuse its requests from their next refresh on',
    ),
  ).action(signedIn((agent: string, work: SignedIn<Confirmable>) => update(agent, false, work)))
  confirmable(leaf(command, 'rm <agent>', 'Delete an agent with its policy, tasks and activity')).action(
    signedIn(remove),
  )
  registerPolicy(noun(command, 'policy', 'Policies: the rules that an admin signs for an agent', ['policies']))
  alias(
    leaf(command, 'dispatch <agent>', 'Give a task to an agent: print its token once, to stdout'),
    '--expires',
    'ttl',
  )
    .option('--scope <name>', 'secret that the task may use (default: all that the policy allows); repeatable', gather)
    .option('--no-secrets', 'the task may use no secret')
    .option('--ttl <duration>', 'lifetime', '15m')
    .option('--label <text>', 'label of the task for people')
    .action(signedIn(dispatch, parseDispatch))
  leaf(command, 'tasks <agent>', 'List the newest tasks of an agent').action(signedIn(tasks))
  leaf(command, 'revoke <task>', 'End a task').action(signedIn(revoke, parseRevoke))
  leaf(command, 'review <agent>', 'Compare the policy with the requests of the agent, and print a narrower policy')
    .option('--days <number>', 'days to look back, at most 90', '14')
    .action(signedIn(review, parseReview))
}

function registerPolicy(command: Command): void {
  overwriting(
    leaf(command, 'edit <agent>', 'Write the current rules of an agent to a file, which you can edit and publish'),
  )
    .requiredOption('--file <path>', 'file to write')
    .action(signedIn(edit, checkEdit))
  leaf(command, 'simulate <agent> <method> <url>', 'Show whether the policy allows a request')
    .option('--secret <name>', 'secret that the request uses')
    .option('--file <path>', 'file with rules to try instead of the current ones')
    .action(signedIn(simulate, parseSimulate))
  alias(
    explained(
      confirmable(leaf(command, 'publish <agent>', 'Sign the rules of an agent, and publish them as its policy')),
      publishHelp,
    ),
    '--ttl',
    'expires',
  )
    .requiredOption('--file <path>', 'JSON file with a list of rules; use - for stdin')
    .option('--expires <duration>', 'when the rules stop working, 1h to 90d', '30d')
    .action(signedIn(publish, parsePublish))
  leaf(command, 'history <agent>', 'List the newest versions of a policy').action(signedIn(history))
  confirmable(
    leaf(command, 'rollback <agent> <version>', 'Sign the rules of an earlier version, and publish them again'),
  )
    .option('--expires <duration>', 'when the rules stop working, 1h to 90d', '30d')
    .action(signedIn(rollback, checkRollback))
}

const publishHelp = `A rule looks like this:

  { "host": "api.example.com", "methods": ["POST"], "paths": ["/v1/**"], "allow": ["API_KEY"], "label": "..." }

Empty methods or paths match everything. An empty allow list matches nothing. The first matching rule decides. Only an admin who is signed in as a person can publish, because the rules are signed with the key of your keyring.`
