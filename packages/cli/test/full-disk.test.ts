import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isQuick } from '../../server/test/extent.ts'
import { findBubblewrap } from '../src/proxy/sandbox/bubblewrap.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Full Org', { cold: true })
  await machine.shell('printf value | skerry secrets set A && skerry secrets set LARGE --random 4096 && mkdir small')
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

const full = 'skerry: cannot write stdout: the disk is full; free some space, and run the command again\n'

describe('a stream that cannot take more', () => {
  it.each(['secrets ls', 'secrets ls --json', 'secrets get A', 'secrets export', '--help', 'completion bash'])(
    'is named as the reason by skerry %s',
    async (line) => {
      const { code, stderr } = await machine.shell(`skerry ${line} >/dev/full`)
      const told = line.endsWith('--json') ? JSON.parse(stderr).error.message : stderr
      expect([code, told]).toEqual([1, expect.stringContaining('cannot write stdout: the disk is full')])
      if (!line.endsWith('--json')) expect(stderr).toBe(full)
    },
  )

  it('for messages changes neither the output nor the exit code', async () => {
    expect(await machine.shell('skerry secrets get A 2>/dev/full')).toMatchObject({ code: 0, stdout: 'value' })
    expect(await machine.shell('skerry secrets get NONE 2>/dev/full')).toMatchObject({ code: 4, stdout: '' })
  })
})

describe.skipIf(isQuick || isMissing())('on a full disk,', () => {
  /** Runs a command with a disk of 4 KiB at the folder `small` of the project, which has room for one more page. */
  const onSmallDisk = (command: string) =>
    machine.shell(
      `bwrap --dev-bind / / --size 8192 --tmpfs "$PWD/small" --chdir "$PWD" -- sh -c 'head -c 4096 /dev/zero >small/filled; ${command}'`,
    )

  it.each(['secrets export --out small/values.env', 'org export small/archive.json'])(
    'skerry %s says so, and leaves no file',
    async (line) => {
      const { code, stdout, stderr } = await onSmallDisk(`skerry ${line}; code=$?; ls -A small; exit $code`)
      expect([code, stdout]).toEqual([1, 'filled\n'])
      expect(stderr).toMatch(/cannot write small\/\S+: the disk is full; free some space, and run the command again\n$/)
    },
  )

  it('skerry signup makes no organization whose credential it could not store', async () => {
    const { code, stderr } = await onSmallDisk(
      'head -c 4096 /dev/zero >>small/filled; XDG_CONFIG_HOME=$PWD/small skerry signup "Lost Org"',
    )
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot write .*: the disk is full/)])
    const again = await machine.shell('skerry signup "Lost Org" --profile lost')
    expect(again.stderr).toContain('signed up Lost Org (lost-org)')
  })

  it('skerry run starts the program, though nothing can be remembered', async () => {
    const { code, stdout, stderr } = await onSmallDisk(
      'head -c 4096 /dev/zero >>small/filled; XDG_STATE_HOME=$PWD/small XDG_CACHE_HOME=$PWD/small skerry run -- printenv A',
    )
    expect([code, stdout], stderr).toEqual([0, 'value\n'])
  })
})

/** Whether there is no bubblewrap, which mounts a small disk for one command. */
function isMissing(): boolean {
  try {
    findBubblewrap()
    return false
  } catch (error) {
    if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw error
    process.stderr.write(`SKIPPED: ${(error as Error).message}\n`)
    return true
  }
}
