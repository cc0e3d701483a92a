import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf, type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Watch Org', { cold: true })
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

describe('--watch', () => {
  it('restarts the program when a secret changes, and only then', async () => {
    const program = `node -e 'console.log("has " + process.env.CHANGING); setInterval(() => {}, 1000)'`
    await machine.skerry(['secrets', 'set', 'CHANGING'], { input: 'one' })
    const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'sh', '-c', `exec ${program}`])
    await run.says('has one\n')
    await machine.skerry(['secrets', 'set', 'CHANGING'], { input: 'two' })
    await run.says('has two\n')
    run.child.kill('SIGTERM')
    const { stdout, stderr, signal } = await run.ended
    expect(stdout).toBe('has one\nhas two\n')
    expect(stderr).toContain('changed: CHANGING')
    expect(stderr).not.toContain('two')
    expect(signal).toBe('SIGTERM')
  })

  it('kills a program that does not end within 10 s', async () => {
    await machine.skerry(['secrets', 'set', 'STUBBORN'], { input: 'one' })
    const program = `trap '' TERM; echo "has $STUBBORN"; while :; do sleep 0.2; done`
    const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'bash', '-c', program])
    await run.says('has one\n')
    await machine.skerry(['secrets', 'set', 'STUBBORN'], { input: 'two' })
    await run.says('has two\n')
    for (const pid of childrenOf(run.child.pid!)) process.kill(pid, 'SIGKILL')
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' })
  })

  it('does not restart the program if a signal ends it during the restart', async () => {
    await machine.skerry(['secrets', 'set', 'SLOW'], { input: 'one' })
    const program = `trap 'echo ending; sleep 3; exit 4' TERM; echo "has $SLOW"; while :; do sleep 0.1; done`
    const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'bash', '-c', program])
    await run.says('has one\n')
    await machine.skerry(['secrets', 'set', 'SLOW'], { input: 'two' })
    await run.says('ending\n')
    run.child.kill('SIGTERM')
    const { code, stdout } = await run.ended
    expect(code).toBe(4)
    expect(stdout).not.toContain('has two')
  })

  it('waits while a value is too large to start a program, and then restarts it', async () => {
    await machine.skerry(['secrets', 'set', 'GROWING'], { input: 'one' })
    const program = `echo "has $GROWING"; while :; do sleep 0.2; done`
    const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'bash', '-c', program])
    await run.says('has one\n')
    await machine.skerry(['secrets', 'set', 'GROWING'], { input: 'x'.repeat(140_000) })
    await run.tells('not started anew: GROWING is larger')
    await machine.skerry(['secrets', 'set', 'GROWING'], { input: 'two' })
    await run.says('has two\n')
    run.child.kill('SIGTERM')
    expect(await run.ended).toMatchObject({ signal: 'SIGTERM' })
  })

  it('waits while references form a cycle, and then restarts the program', async () => {
    await machine.shell('skerry group create loop; skerry env create development --group loop; skerry compose set loop')
    await machine.skerry(['secrets', 'set', 'ROUND'], { input: 'one' })
    const program = `echo "has $ROUND"; while :; do sleep 0.2; done`
    const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'bash', '-c', program])
    await run.says('has one\n')
    await machine.skerry(['secrets', 'set', 'ROUND'], { input: '${LOOPED}' })
    await run.says('has ${LOOPED}\n')
    // A group does not know what refers to it.
    await machine.skerry(['secrets', 'set', 'LOOPED', '--group', 'loop'], { input: '${ROUND}' })
    await run.tells('not started anew: LOOPED, ROUND have no values: secret references form a cycle: LOOPED -> ROUND')
    expect((await machine.skerry(['secrets', 'get', 'ROUND', '--stored'])).stdout).toBe('${LOOPED}')
    await machine.skerry(['secrets', 'set', 'ROUND'], { input: 'two' })
    await run.says('has two\n')
    run.child.kill('SIGTERM')
    expect((await run.ended).stderr.split('form a cycle')).toHaveLength(2)
  })

  it('says that all values together are too large for a program', async () => {
    const large = Array.from({ length: 20 }, (_, i) => `LARGE_${i}=${'x'.repeat(120_000)}`)
    await machine.write('large.env', large.join('\n'))
    const told = { code: 126, stdout: '', stderr: expect.stringContaining('more than a program can be given') }
    const options = ['--dotenv', 'large.env', '--', 'true']
    expect(await machine.skerry(['run', '--watch', ...options])).toMatchObject(told)
    expect(await machine.skerry(['run', ...options])).toMatchObject(told)
  })

  it.each(['0s', '30d'])('--interval %s is refused before anything is fetched', async (interval) => {
    const { code, stderr } = await machine.skerry(['run', '--watch', '--interval', interval, '--', 'true'], {
      env: { SKERRY_URL: 'http://127.0.0.1:1' },
    })
    expect(code).toBe(2)
    expect(stderr).toContain('between a second and a day')
  })

  it('ends as the program ends', async () => {
    expect(await machine.skerry(['run', '--watch', '--', 'sh', '-c', 'exit 7'])).toMatchObject({ code: 7 })
  })
})
