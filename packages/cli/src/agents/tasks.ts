import { dispatchTask } from '@skerry/sdk/internal/agents'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, type Output, writeLine, writeStderr, writeTable } from '../output.ts'
import type { Flags } from '../settings.ts'
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
  const { token, task, header } = await dispatchTask(session.client, agent.id, {
    ttlSeconds,
    ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
    ...(label === undefined ? {} : { label }),
  })
  return {
    json: { token, header, task },
    text: () => writeLine(token),
    after: () => {
      note(`task ${task.id} of ${agent.slug}, until ${task.expiresAt}`)
      writeStderr(howToUse)
    },
  }
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
    text: () =>
      writeTable(
        ['id', 'status', 'secrets', 'until', 'seen', 'by', 'label'],
        tasks.map((one) => [
          one.id,
          one.status,
          one.scopes === null ? 'all of the policy' : one.scopes.join(' ') || 'none',
          one.expiresAt,
          one.lastSeenAt ?? 'never',
          one.dispatchedById,
          one.label ?? '',
        ]),
      ),
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
      note(`task ${task.id} is ${task.status}; proxies notice it after their cache time (30 seconds by default)`),
  }
}

export function parseRevoke(_flags: Flags, taskId: string) {
  // A whole token begins with the id of its task. The rest must not get into an address.
  const id = /^(?:tsk|skd)_[0-9A-Za-z]{22}/.exec(taskId)?.[0]
  if (id === undefined) throw usage('the task id is not valid', 'see `skerry agent tasks <agent>`')
  return { id }
}
