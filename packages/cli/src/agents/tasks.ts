import { type Agent, dispatchTask } from '@skerry/sdk/internal/agents'
import { openDirectory } from '../directory.ts'
import { parseDuration } from '../duration.ts'
import { Failure, redact, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, writeLine, writeStderr, writeTable } from '../output.ts'
import type { Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import { agentOf } from './identities.ts'

interface DispatchOptions extends Flags {
  scope?: string[]
  secrets: boolean
  ttl: string
  label?: string
}

export async function dispatch(
  wanted: string,
  { session, flags: { label }, input: { ttlSeconds, scopes } }: SignedIn<DispatchOptions, typeof parseDispatch>,
): Promise<Output> {
  const { agent } = await agentOf(session, wanted)
  refuseIdle(agent)
  const { token, task, header } = await dispatchTask(session.client, agent.id, {
    ttlSeconds,
    ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
    ...(label === undefined ? {} : { label }),
  })
  return {
    json: { token, header, task },
    text: () => writeLine(token),
    after: () => {
      note(`task ${task.id} of ${agent.slug}, until ${notedTime(task.expiresAt)}`)
      writeStderr(howToUse)
    },
  }
}

/** Refuses an agent that may use nothing, because the server's refusal does not know the command that helps. */
function refuseIdle({ slug, enabled, policyVersion }: Agent): void {
  if (!enabled) throw new Failure('refused', `agent ${slug} is disabled`, `run \`skerry agent enable ${slug}\``)
  if (policyVersion === 0)
    throw new Failure(
      'conflict',
      `agent ${slug} has no policy, so it can do nothing`,
      `run \`skerry agent policy publish ${slug} --file <path>\``,
    )
}

/** Says how an agent gets its ticket. `printf` is a part of the shell, so the ticket appears in no list of processes. */
const howToUse = `the token is the ticket of the agent; it works in a program behind a proxy, or as a header of its requests:
  SKERRY_TASK="$TICKET" skerry proxy run --task -- <program>
  printf 'x-skerry-ticket: %s' "$TICKET" | curl -H @- <address of the proxy>/<route>
`

export function parseDispatch(flags: DispatchOptions) {
  const { scope, secrets } = flags
  if (scope !== undefined && !secrets) throw usage('--scope and --no-secrets cannot be used together')
  const ttlSeconds = parseDuration(flags.ttl, '--ttl')
  const scopes = secrets ? scope : []
  return { ttlSeconds, scopes }
}

export async function tasks(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const { tasks } = await session.client.tasks.list({ params: { orgId, agentId: agent.id } })
  return {
    json: { tasks },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        tasks.map(({ dispatchedById }) => dispatchedById),
      )
      writeTable(
        ['id', 'status', 'secrets', 'until', 'seen', 'by', 'label'],
        tasks.map((one) => [
          one.id,
          one.status,
          one.scopes === null ? 'all of the policy' : one.scopes.join(' ') || 'none',
          shownTime(one.expiresAt),
          shownTime(one.lastSeenAt),
          nameOf(one.dispatchedById) ?? one.dispatchedById,
          one.label ?? '',
        ]),
        'no agent has a task; give one with `skerry agent dispatch <agent>`',
      )
    },
  }
}

export async function revoke(
  _taskId: string,
  { session, input: { id } }: SignedIn<Flags, typeof parseRevoke>,
): Promise<Output> {
  const { task } = await session.client.tasks.revoke({ params: { taskId: id } })
  return {
    json: { task },
    after: () =>
      note(
        `task ${task.id} is ${task.status}; proxies refuse its token within 30 seconds, unless their settings say otherwise`,
      ),
  }
}

export function parseRevoke(_flags: Flags, taskId: string) {
  // A whole token begins with the id of its task. The rest must not get into an address.
  const id = /^(?:tsk|skd)_[0-9A-Za-z]{22}/.exec(taskId)?.[0]
  if (id === undefined) throw usage(`'${redact(taskId)}' is not the id of a task`, 'see `skerry agent tasks <agent>`')
  return { id }
}
