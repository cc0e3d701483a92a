import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { getSecret, getSecretMap, manifestOf, NoSecretError } from './external-secrets.ts'
import {
  type Asking,
  ask,
  callerToken,
  openServeScene,
  other,
  portOf,
  type Serving,
  stop,
  value,
} from './serve-scene.ts'

// `skerry serve --port` gives secrets to programs that ask for them over HTTP.

const { server, liar, token, setSecret, freshMachine, emptyMachine, serve } = await openServeScene()

describe('the External Secrets Operator, with the manifests of integrations/kubernetes', () => {
  const [, , ...args] = manifestOf('Deployment', 'skerry').spec.template.spec.containers[0].args as string[]
  const tls = (file: string) => fileURLToPath(new URL(`../../server/test/tls/${file}`, import.meta.url))

  /** The arguments of the Deployment, with files and the port of this machine. */
  const here = (callerFile: string) =>
    args.map((one) =>
      one
        .replace('/run/caller/token', callerFile)
        .replace('/run/tls/tls.crt', tls('target.pem'))
        .replace('/run/tls/tls.key', tls('target.key'))
        .replace('--port=8700', '--port=0')
        .replace('--host=0.0.0.0', '--host=127.0.0.1'),
    )

  it('reads one secret, all secrets, and a value that has changed', async () => {
    const machine = await freshMachine()
    await machine.write('../caller', `${'c'.repeat(64)}\n`)
    const port = portOf(await serve(machine, here(join(machine.home, 'caller'))))
    const operator = { port, token: `${'c'.repeat(64)}\n` }
    const [{ remoteRef }] = manifestOf('ExternalSecret', 'shop').spec.data
    expect(await getSecret('skerry', remoteRef.key, operator)).toBe(value)
    expect(await getSecretMap('skerry-all', 'all', operator)).toEqual({ DATABASE_URL: value, OTHER: other })
    await expect(getSecret('skerry', 'MISSING', operator)).rejects.toThrow(NoSecretError)
    await expect(getSecret('skerry', 'a/b', operator)).rejects.toThrow('endpoint gave error 400')
    await expect(getSecret('skerry', remoteRef.key, { port, token: 'wrong' })).rejects.toThrow(
      'endpoint gave error 401',
    )
    await setSecret('OTHER', 'changed')
    await expect.poll(() => getSecret('skerry', 'OTHER', operator), { interval: 250 }).toBe('changed')
    await setSecret('OTHER', other)
    await expect.poll(() => getSecret('skerry', 'OTHER', operator), { interval: 250 }).toBe(other)
  })

  it('the manifests name the Secrets and the host that they use', () => {
    const { webhook } = manifestOf('SecretStore', 'skerry').spec.provider
    const { volumes } = manifestOf('Deployment', 'skerry').spec.template.spec
    const names = volumes.flatMap((one: { secret?: { secretName: string } }) => one.secret?.secretName ?? [])
    expect(names).toEqual(expect.arrayContaining([webhook.secrets[0].secretRef.name, webhook.caProvider.name]))
    expect(args).toContain(`--allow-host=${new URL(webhook.url.replace(/\{\{.*\}\}/, '')).hostname}`)
  })
})

describe('a port', () => {
  it('refuses every request but those that it is for, in a sentence and without a value', async () => {
    const machine = await freshMachine()
    const serving = await serve(machine, ['--port', '0'])
    const [port, secret] = [portOf(serving), callerToken(serving)]
    const authorization = `Bearer ${secret}`
    const rows: [path: string, asking: Asking, status: number, sentence: string][] = [
      ['/v1/secrets', {}, 401, 'send the token'],
      ['/v1/secrets/DATABASE_URL', {}, 401, 'send the token'],
      ['/v1/secrets', { headers: { authorization: `${authorization}x` } }, 401, 'this is not the token'],
      ['/v1/secrets', { headers: { authorization: secret } }, 401, 'this is not the token'],
      ['/v1/secrets', { headers: { authorization, host: 'evil.example.com' } }, 403, 'the Host header'],
      [
        '/v1/secrets',
        { headers: { authorization, host: `127.0.0.1.evil.example.com:${port}` } },
        403,
        'the Host header',
      ],
      ['/v1/secrets', { headers: { authorization }, method: 'POST', body: '{}' }, 405, 'use GET'],
      ['/v1/secrets', { headers: { authorization }, method: 'OPTIONS' }, 405, 'use GET'],
      ['/v1/secrets', { headers: { authorization, 'content-length': '2' }, body: '{}' }, 413, 'send no body'],
      ['/v1/secrets?token=x', { headers: { authorization } }, 400, 'without a query'],
      ['/v1/secrets/', { headers: { authorization } }, 400, 'without a query'],
      ['/v1/secret/DATABASE_URL', { headers: { authorization } }, 400, '/v1/secrets/<NAME>'],
      ['/v1/secrets/9A', { headers: { authorization } }, 400, 'the name of a secret'],
      ['/v1/secrets/DATABASE%5FURL', { headers: { authorization } }, 400, 'the name of a secret'],
      ['/v1/secrets/..%2F..%2Fetc', { headers: { authorization } }, 400, 'the name of a secret'],
      [`/v1/secrets/${'A'.repeat(600)}`, { headers: { authorization } }, 414, 'the path is too long'],
      ['/v1/secrets/MISSING', { headers: { authorization } }, 404, 'there is no secret MISSING'],
      ['/v1/secrets/toString', { headers: { authorization } }, 404, 'there is no secret toString'],
    ]
    for (const [path, asking, status, sentence] of rows) {
      const heard = await ask({ port }, path, asking)
      expect([path, heard.status, heard.text]).toEqual([path, status, expect.stringContaining(sentence)])
      expect(JSON.parse(heard.text).error).toEqual({ code: expect.any(String), message: expect.any(String) })
      expect(heard.headers['access-control-allow-origin']).toBeUndefined()
      expect(heard.text).not.toContain('s3cret-of-db')
    }
    // The limit of Node for a head.
    expect((await ask({ port }, '/v1/secrets', { headers: { authorization, x: 'x'.repeat(9000) } })).status).toBe(431)
    for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, 'localhost'])
      expect(await ask({ port }, '/v1/secrets/DATABASE_URL', { headers: { authorization, host } })).toMatchObject({
        status: 200,
        text: JSON.stringify({ name: 'DATABASE_URL', value }),
        headers: { 'cache-control': 'no-store', age: expect.stringMatching(/^\d$/) },
      })
    expect(await ask({ port }, '/health')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
  })

  it('keeps its token in a file of its owner, and shows it nowhere', async () => {
    const machine = await freshMachine()
    const serving = await serve(machine, ['--port', '0'])
    const secret = callerToken(serving)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(statSync(/the token in (\S+)/.exec(serving.told())![1]!).mode & 0o777).toBe(0o600)
    expect(serving.told()).not.toContain(secret)
    await stop(serving)
    expect(callerToken(await serve(machine, ['--port', '0']))).toBe(secret)
    await machine.write('short', 'abc\n')
    expect(await machine.skerry(['serve', '--port', '0', '--token-file', 'short'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('short contains no token for callers'),
    })
  })

  it.each([
    ['--host 0.0.0.0 --port 0', '--host 0.0.0.0 is on the network'],
    ['--host 0.0.0.0 --port 0 --allow-cleartext', '--host 0.0.0.0 needs --allow-host'],
    ['--host 127.0.0.1', '--host needs --port'],
    ['--token-file x', '--token-file needs --port'],
    ['--allow-host shop.svc', '--allow-host needs --port'],
    ['--port 0 --tls-cert x', '--tls-cert and --tls-key are needed together'],
    ['--port 0 --socket x', '--port and --socket cannot be used together'],
    ['--port many', '--port must be a whole number'],
    ['--max-age long', '--max-age must be a duration'],
    ['--only A --except B', '--only and --except cannot be used together'],
  ])('skerry serve %s is refused', async (line, message) => {
    const machine = await emptyMachine('http://127.0.0.1:1')
    const { code, stderr } = await machine.skerry(['serve', ...line.split(' ')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('a server that lies or is away', () => {
  const get = async (serving: Serving, path = '/v1/secrets/DATABASE_URL') => {
    const { status, text, headers } = await ask({ port: portOf(serving) }, path, {
      headers: { authorization: `Bearer ${callerToken(serving)}` },
    })
    return { status, text, age: headers.age }
  }

  it('gets 502 and the sentence for its callers, and no value is given out until it is honest again', async () => {
    const serving = await serve(await freshMachine(), ['--port', '0'])
    expect((await get(serving)).status).toBe(200)
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(502)
    for (const path of ['/v1/secrets/DATABASE_URL', '/v1/secrets', '/v1/secrets/MISSING']) {
      const { status, text } = await get(serving, path)
      expect([status, JSON.parse(text).error]).toEqual([
        502,
        { code: 'directory_missing', message: expect.stringContaining('shows no signed directory') },
      ])
      expect(text).not.toContain('s3cret-of-db')
    }
    expect(await ask({ port: portOf(serving) }, '/health')).toMatchObject({ status: 503 })
    expect(serving.told()).toContain('no secret is given out: the server shows no signed directory')
    liar.repent()
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(200)
    expect(serving.told()).toContain('the server answers again')
  })

  it('that refuses the token gets 502, and the copy is not used', async () => {
    const serving = await serve(await freshMachine(), ['--port', '0'])
    liar.refuse(/\/resolve/, 'the token was revoked')
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(502)
    expect(JSON.parse((await get(serving)).text).error).toMatchObject({ code: 'forbidden' })
  })

  it('does not start', async () => {
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    const { code, stdout, stderr } = await (await freshMachine()).skerry(['serve', '--port', '0'])
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining('shows no signed directory')])
  })

  it.each([[[]], [['--no-cache']]])('is replaced by the copy, with its age: %s', async (more) => {
    const serving = await serve(await freshMachine(server.url), ['--port', '0', ...more])
    expect(await get(serving)).toMatchObject({ status: 200 })
    await server.stop()
    try {
      const health = async () => (await ask({ port: portOf(serving) }, '/health')).text
      await expect.poll(health, { interval: 250 }).toBe('{"status":"stale"}')
      expect(await get(serving)).toEqual({
        status: 200,
        text: JSON.stringify({ name: 'DATABASE_URL', value }),
        age: expect.any(String),
      })
      // The secret may be newer than the copy, so that its caller must not hear that it was deleted.
      expect(await get(serving, '/v1/secrets/MISSING')).toMatchObject({ status: 503 })
      expect(serving.told()).toContain('the server cannot be reached: answering from the copy of')
    } finally {
      await server.start()
    }
    await expect.poll(async () => (await get(serving, '/v1/secrets/MISSING')).status, { interval: 250 }).toBe(404)
  })
})

describe('SKERRY_TOKEN_FILE', () => {
  it('is the token of every command, and no program gets it', async () => {
    const machine = await freshMachine()
    expect(
      await machine.skerry(['run', '--', 'sh', '-c', 'echo "$DATABASE_URL"; env | grep -c SKERRY_TOKEN']),
    ).toMatchObject({
      code: 1,
      stdout: `${value}\n0\n`,
    })
    expect((await machine.skerry(['whoami', '--json'])).stdout).toContain(token.slice(0, 26))
  })

  it.each([
    [{ SKERRY_TOKEN: 'skt_x' }, 'SKERRY_TOKEN and SKERRY_TOKEN_FILE are both set'],
    [{ SKERRY_TOKEN_FILE: '/nowhere/token' }, '/nowhere/token does not exist'],
    [{ SKERRY_TOKEN_FILE: '/dev/null' }, '/dev/null is empty'],
  ])('that cannot be used is refused: %o', async (env, message) => {
    const machine = await freshMachine()
    expect(await machine.skerry(['whoami'], { env: env as Record<string, string> })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    })
  })
})
