import type { Command } from 'commander'
import { create, list, remove, show, update } from '../agents/identities.ts'
import {
  checkEdit,
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
import { addressed, confirmable, gather, leaf, overwriting } from '../options.ts'
import type { Confirmable } from '../settings.ts'

export function register(command: Command): void {
  addressed(leaf(command, 'create <slug>', 'Make an agent; it holds no key. With --app and --env it is bound there'))
    .option('--name <text>', 'for people; the slug unless given')
    .action(inOrg(create))
  leaf(command, 'list', 'List agents').action(signedIn(list))
  leaf(command, 'show <agent>', 'One agent, and the policy that is in force').action(signedIn(show))
  leaf(command, 'enable <agent>', 'Serve its policy again').action(
    signedIn((agent: string, work: SignedIn) => update(agent, true, work)),
  )
  confirmable(leaf(command, 'disable <agent>', 'Stop serving its policy; proxies keep theirs until it expires')).action(
    signedIn((agent: string, work: SignedIn<Confirmable>) => update(agent, false, work)),
  )
  confirmable(leaf(command, 'rm <agent>', 'Remove an agent with its policy, tasks and activity')).action(
    signedIn(remove),
  )
  registerPolicy(command.command('policy').description('What an agent may do: rules that an admin signs'))
  leaf(command, 'dispatch <agent>', 'Give an agent a task; its token is shown once, on stdout')
    .option('--scope <name>', 'secret that the task may use; all that the policy permits unless given', gather)
    .option('--no-secrets', 'a task that may use no secret')
    .option('--ttl <duration>', 'how long it lives', '15m')
    .option('--label <text>', 'for people')
    .action(signedIn(dispatch, parseDispatch))
  leaf(command, 'tasks <agent>', 'The newest tasks of an agent').action(signedIn(tasks))
  leaf(command, 'revoke <task>', 'End a task').action(signedIn(revoke, parseRevoke))
  leaf(command, 'review <agent>', 'Compare the policy with what the agent did; print a narrower one')
    .option('--days <number>', 'how far back, at most 90', '14')
    .action(signedIn(review, parseReview))
}

function registerPolicy(command: Command): void {
  command.helpCommand(false)
  overwriting(leaf(command, 'edit <agent>', 'Write the rules in force into a file, to edit and publish'))
    .requiredOption('--file <path>', 'where to write them')
    .action(signedIn(edit, checkEdit))
  leaf(command, 'simulate <agent> <method> <url>', 'What the policy says to a request')
    .option('--secret <name>', 'that is to be put into it')
    .option('--file <path>', 'rules of a file, instead of those in force')
    .action(signedIn(simulate, parseSimulate))
  confirmable(leaf(command, 'publish <agent>', 'Sign rules and publish them'))
    .requiredOption('--file <path>', 'JSON: a list of rules; - for stdin')
    .option('--expires <duration>', 'until they permit nothing any more, 1h to 90d', '30d')
    .addHelpText('after', publishHelp)
    .action(signedIn(publish, parsePublish))
  leaf(command, 'history <agent>', 'The newest versions').action(signedIn(history))
  confirmable(
    leaf(command, 'rollback <agent> <version>', 'Sign the rules of an earlier version anew, and publish them'),
  )
    .option('--expires <duration>', 'until they permit nothing any more, 1h to 90d', '30d')
    .action(signedIn(rollback))
}

const publishHelp = `
A rule: { "host": "api.example.com", "methods": ["POST"], "paths": ["/v1/**"], "allow": ["API_KEY"], "label": "..." }.
Of methods and paths an empty list means any, of allow it means none. The first rule that matches decides.
Only an admin who is signed in as a person can publish: the rules are signed with the key of your keyring.`
