import type { Command } from 'commander'
import { type Check, checkAll } from '../checks.ts'
import { exitCodes } from '../failure.ts'
import { common } from '../options.ts'
import { writeJson, writeLine, writeMarked } from '../output.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  common(command).action(doctor)
}

const marks = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const
const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const

async function doctor(flags: Flags): Promise<void> {
  const checks: Check[] = []
  for await (const check of checkAll(flags)) {
    checks.push(check)
    if (flags.json) continue
    writeMarked(colours[check.state], marks[check.state], `${check.what}: ${check.message}`)
    if (check.next) writeLine(`      ${check.next}`)
  }
  if (flags.json) writeJson({ checks })
  if (checks.some((check) => check.state === 'fail')) process.exitCode = exitCodes.failure
}
