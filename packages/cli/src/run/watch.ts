import type { Resolved, Skerry } from '@skerry/sdk'
import { watch } from '@skerry/sdk/watch'
import { describe, toFailure } from '../failure.ts'
import { note, warn } from '../output.ts'
import type { Child, Ending } from './child.ts'
import type { Launch } from './environment.ts'

interface Watched {
  skerry: Skerry
  revision: string
  intervalSeconds: number
  launch: Launch
  /** Builds the environment of the program from a new answer of the server. */
  build: (resolved: Resolved) => Launch
  start: (launch: Launch) => Child
}

/** Runs a program and restarts it whenever its secrets change. Returns how the program ended by itself. */
export async function runWatched(watched: Watched): Promise<Ending> {
  const ended = new AbortController()
  let { launch } = watched
  let child = watched.start(launch)
  let restarting = false
  let finish: (ending: Promise<Ending>) => void = () => {}
  const ending = new Promise<Ending>((resolve) => {
    finish = resolve
  })
  const follow = (one: Child) => {
    const end = () => {
      if (!restarting) finish(one.done)
    }
    one.done.then(end, end)
  }
  follow(child)

  let told: string | undefined
  // Each poll finds the same failure until somebody fixes it, so it is reported once.
  const onUnusable = (error: Error) => {
    if (error.message !== told) tellNotStarted(error)
    told = error.message
  }
  const onChange = async (resolved: Resolved) => {
    told = undefined
    const next = attempt(watched, resolved)
    if (next === undefined) return
    const names = changedNames(launch.env, next.env)
    if (names.length === 0) return
    note(`changed: ${names.join(', ')}; starting the program anew`)
    restarting = true
    await child.stop()
    restarting = false
    if (child.askedToEnd()) return finish(child.done)
    launch = next
    child = watched.start(launch)
    follow(child)
  }
  const { skerry, revision, intervalSeconds } = watched
  const options = { revision, intervalSeconds, signal: ended.signal, onChange, onUnusable }
  const watching = watch(skerry, options).catch((error) => {
    warn(`no longer watching for changes: ${toFailure(error).message}`)
  })
  try {
    return await ending
  } finally {
    ended.abort()
    await watching
  }
}

/** Reports values that no program can be started with, and waits, because somebody may fix them. */
function attempt({ build }: Watched, resolved: Resolved): Launch | undefined {
  try {
    return build(resolved)
  } catch (error) {
    tellNotStarted(error)
    return undefined
  }
}

const tellNotStarted = (error: unknown) => warn(`the program is not started anew: ${describe(toFailure(error))}`)

function changedNames(before: Record<string, string>, after: Record<string, string>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name]).sort()
}
