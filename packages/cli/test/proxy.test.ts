import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseConfig } from '@skerry/proxy/config/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isQuick } from '../../server/test/extent.ts'
import { freePort } from '../../server/test/services/free-port.ts'
import { fileRules, local, openProxied, type Proxied, planted as value } from './proxied.ts'

// Each `skerry proxy run` is a process of its own, and so are its servers and clients.
describe.skipIf(isQuick)('on the command line,', () => {
  let proxied: Proxied
  let { alice, machine, origin, got } = {} as Proxied
  let signer: string
  beforeAll(async () => {
    proxied = await openProxied()
    ;({ alice, machine, origin, got } = proxied)
    const rules = [{ host: '127.0.0.1', methods: ['GET'], paths: ['/v1/**'], allow: ['API_KEY', 'OTHER_KEY'] }]
    await alice.ok('skerry agent create builder')
    await alice.write('rules.json', JSON.stringify(rules))
    const published = await alice.shell('skerry agent policy publish builder --file rules.json --yes')
    signer = /[A-Za-z0-9_-]{43}/.exec(published.stdout + published.stderr)![0]
  })
  afterAll(() => proxied.close())

  const serverRules = () =>
    `${local}[policy]\nsource = "server"\nagent = "builder"\nsigners = ["${signer}"]\nports = ["1-65535"]\n[tasks]\ncache_ttl = 0\n[activity]\n`

  const bearer = 'Authorization: Bearer {{skerry:API_KEY}}'

  describe('skerry proxy run', () => {
    it.each([
      ['curl', `curl -sS -H '${bearer}' URL/curl`],
      [
        'Node’s fetch',
        `node -e "fetch('URL/node', { headers: { authorization: 'Bearer {{skerry:API_KEY}}' } }).then((a) => a.text()).then(console.log)"`,
      ],
      [
        'Python',
        `python3 -c "import urllib.request as u; print(u.urlopen(u.Request('URL/python', headers={'Authorization': 'Bearer {{skerry:API_KEY}}'})).read())"`,
      ],
      ['Git', `git -c http.extraHeader='${bearer}' ls-remote URL/git; true`],
    ])('replaces the placeholder of %s with the secret for the upstream', async (_, command) => {
      await machine.write('skerry-proxy.toml', fileRules)
      await machine.write('program.sh', command.replaceAll('URL', origin))
      got.length = 0
      const { code, stdout, stderr } = await machine.shell('skerry proxy run -- sh program.sh')
      expect(code, stderr).toBe(0)
      expect(got[0]?.authorization).toBe(`Bearer ${value}`)
      expect(stdout + stderr).not.toContain(value)
    })

    it('lets the program reach a route at its own address', async () => {
      const port = await freePort()
      const route = `listen = "127.0.0.1:${port}"\n[[route]]\nprefix = "/api"\nupstream = "${origin}"\nallow = ["API_KEY"]\n`
      await machine.write('skerry-proxy.toml', `${route}${fileRules.replace(/^\[egress\]\n.*\n/, '')}`)
      got.length = 0
      const asked = `curl -sS -H '${bearer}' http://127.0.0.1:${port}/api/routed`
      await machine.write('program.sh', asked)
      const { code, stderr } = await machine.shell('skerry proxy run -- sh program.sh')
      expect(code, stderr).toBe(0)
      expect(got).toEqual([{ url: '/routed', authorization: `Bearer ${value}` }])
    })

    it('gives the program neither the secret nor a credential, and writes neither to disk', async () => {
      await machine.write('skerry-proxy.toml', fileRules)
      const { stdout } = await machine.shell(`skerry proxy run -- sh -c 'env; curl -sS -H "${bearer}" ${origin}/'`)
      expect(stdout).toContain('HTTPS_PROXY=http://127.0.0.1:')
      expect(stdout).not.toContain(machine.env.SKERRY_TOKEN)
      expect(stdout).not.toContain(value)
      const files = readdirSync(machine.home, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      )
      expect(files.length).toBeGreaterThan(2)
      for (const { parentPath, name } of files)
        expect(readFileSync(join(parentPath, name)).includes(value), name).toBe(false)
    })

    it('makes Java use and trust the proxy', async () => {
      if (!existsSync('/usr/bin/java')) return
      const program = `public class Ask { public static void main(String[] a) throws Exception {
      var c = (java.net.HttpURLConnection) new java.net.URI("${origin}/java").toURL().openConnection();
      c.setRequestProperty("Authorization", "Bearer {{skerry:API_KEY}}"); System.out.println(c.getResponseCode());
      var store = java.security.KeyStore.getInstance(new java.io.File(System.getProperty("javax.net.ssl.trustStore")), "changeit".toCharArray());
      System.out.println(store.size() > 50); } }`
      await machine.write('skerry-proxy.toml', fileRules)
      await machine.write('Ask.java', program)
      got.length = 0
      const { stdout, stderr } = await machine.shell('skerry proxy run -- java Ask.java')
      expect(stdout, stderr).toBe('200\ntrue\n')
      expect(got[0]?.authorization).toBe(`Bearer ${value}`)
    })

    it('sends metrics and traces to an OpenTelemetry collector if one is set', async () => {
      await machine.write('skerry-proxy.toml', fileRules)
      const told: string[] = []
      const collector = createServer((request, response) => {
        told.push(request.url!)
        request.resume().on('end', () => response.end('{}'))
      })
      await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done))
      const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
      const run = ['proxy', 'run', '--', 'curl', '-sS', origin]
      expect((await machine.skerry(run)).code).toBe(0)
      expect(told).toEqual([])
      expect((await machine.skerry(run, { env: { OTEL_EXPORTER_OTLP_ENDPOINT } })).code).toBe(0)
      expect(told.sort()).toEqual(['/v1/metrics', '/v1/traces'])
      collector.close()
    })

    it('asks on the terminal about a waiting request, and sends or denies it as the person answers', async () => {
      const listen = await freePort()
      const approval = '[approval]\n[[approval.require]]\nhost = "127.0.0.1"\n'
      await machine.write('skerry-proxy.toml', fileRules.replace('127.0.0.1:0', `127.0.0.1:${listen}`) + approval)
      await machine.write('start.sh', 'echo $$ > proxy.pid; exec skerry proxy run')
      got.length = 0
      const ask = async (path: string) => {
        const command = `curl -sS --retry 100 --retry-connrefused --retry-delay 0 -o /dev/null -w '%{http_code}' --proxy http://127.0.0.1:${listen}`
        return (await machine.shell(`${command} -H '${bearer}' ${origin}/${path}`)).stdout
      }
      const down = '\x1b[B'
      const terminal = machine.terminal('sh start.sh', [
        ['GET 127.0.0.1/approved with API_KEY', '\r'],
        ['GET 127.0.0.1/denied with API_KEY', `${down}\r`],
        ['GET 127.0.0.1/escaped with API_KEY', '\x03'],
      ])
      expect([await ask('approved'), await ask('denied'), await ask('escaped')]).toEqual(['200', '403', '403'])
      expect(got).toEqual([{ url: '/approved', authorization: `Bearer ${value}` }])
      process.kill(Number(await machine.read('proxy.pid')), 'SIGTERM')
      const { code, stdout } = await terminal
      expect([code, stdout.includes(value)]).toEqual([0, false])
    })

    it('ends as the program ends', async () => {
      await machine.write('skerry-proxy.toml', fileRules)
      expect(await machine.shell('skerry proxy run -- sh -c "exit 9"')).toMatchObject({ code: 9 })
    })

    it('does not start without settings, with wrong settings, or with an unknown token', async () => {
      expect(await machine.shell('skerry proxy run -c none.toml')).toMatchObject({ code: 4 })
      await machine.write('wrong.toml', '[forward]\nlisten = 1')
      const { code, stderr } = await machine.shell('skerry proxy run -c wrong.toml')
      expect([code, stderr]).toEqual([2, 'skerry: wrong.toml: forward.listen: must be text, and not empty\n'])
      const revoked = machine.env.SKERRY_TOKEN!.replace(/^skt_.{22}/, `skt_${'0'.repeat(22)}`)
      const env = { SKERRY_TOKEN: revoked }
      expect((await machine.skerry(['proxy', 'run', '--', 'true'], { env })).code).toBe(3)
    })
  })

  describe('a policy of the server', () => {
    it('decides requests if its signer is pinned, and the proxy does not start with another pin', async () => {
      await machine.write('skerry-proxy.toml', `require_task = false\n${serverRules()}`)
      const asked = ['/v1/a', '/v2'].map(
        (path) => `curl -sS -o /dev/null -w '%{http_code} ' -H '${bearer}' ${origin}${path}`,
      )
      const { stdout, stderr } = await machine.shell(
        `skerry proxy run -- sh -c "${asked.join(';').replaceAll('"', '\\"')}"`,
      )
      expect(stdout, stderr).toBe('200 403 ')
      await machine.write('skerry-proxy.toml', serverRules().replace(signer, 'A'.repeat(43)))
      const other = await machine.shell('skerry proxy run -- true')
      expect(other).toMatchObject({ code: 1, stdout: '' })
      expect(other.stderr).toContain('the proxy was not started')
    })

    it('lets a task use only its secret until it is revoked, and the server has a record of the denied secret', async () => {
      const control = await freePort()
      await machine.write('skerry-proxy.toml', serverRules().replace('127.0.0.1:0', `127.0.0.1:${control}`))
      const task = (await alice.ok('skerry agent dispatch builder --scope API_KEY')).trim()
      const { child, tells, ended } = machine.start(['proxy', 'run'], { input: null })
      await tells('proxy: ')
      const ask = async (name: string) => {
        const headers = `-H 'X-Skerry-Ticket: ${task}' -H 'Authorization: Bearer {{skerry:${name}}}'`
        const command = `curl -sS -o /dev/null -w '%{http_code}' --proxy http://127.0.0.1:${control} ${headers} ${origin}/v1/a`
        return (await machine.shell(command)).stdout
      }
      expect([await ask('API_KEY'), await ask('OTHER_KEY')]).toEqual(['200', '403'])
      await alice.ok(`skerry agent revoke ${task.slice(0, 26)}`)
      expect(await ask('API_KEY')).toBe('403')
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
      const { stdout } = await alice.shell('skerry agent review builder --json')
      expect(JSON.stringify(JSON.parse(stdout))).toMatch(/OTHER_KEY/)
    })
  })

  describe('skerry proxy run --task', () => {
    const dispatch = async () => (await alice.ok('skerry agent dispatch builder --scope API_KEY')).trim()
    const asking = (name: string) =>
      `curl -sS -o /dev/null -w '%{http_code} ' -H 'Authorization: Bearer {{skerry:${name}}}' ${origin}/v1/a`

    it('binds the program to its task, although the program neither sends the token nor knows it', async () => {
      await machine.write('skerry-proxy.toml', serverRules())
      await machine.write('program.sh', `${asking('API_KEY')}; ${asking('OTHER_KEY')}; env`)
      const dispatched = await alice.shell('skerry agent dispatch builder --scope API_KEY')
      const SKERRY_TASK = dispatched.stdout.trim()
      // The token is on stdout alone, and the examples keep it out of the arguments of a process.
      expect(dispatched.stderr).toContain('SKERRY_TASK="$TICKET" skerry proxy run --task -- <program>')
      expect(dispatched.stderr).toContain(`printf 'x-skerry-ticket: %s' "$TICKET" | curl -H @- `)
      expect(dispatched.stderr).not.toContain('skd_')
      const run = ['proxy', 'run', '--task', '--', 'sh', 'program.sh']
      const { stdout, stderr } = await machine.skerry(run, { env: { SKERRY_TASK } })
      expect(stdout, stderr).toMatch(/^200 403 /)
      expect(stdout).not.toContain('skd_')
      const without = await machine.shell('skerry proxy run -- sh program.sh')
      expect(without.stdout, without.stderr).toMatch(/^403 403 /)
      expect(without.stderr).toContain('start the program with `skerry proxy run --task`')
      await alice.ok(`skerry agent revoke ${SKERRY_TASK.slice(0, 26)}`)
      const ended = await machine.skerry(run, { env: { SKERRY_TASK } })
      expect([ended.code, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toContain('the proxy was not started: the task is unknown or has ended')
    })

    it('opens its own listeners, even if another program uses the ports of the settings', async () => {
      const other = createServer()
      await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
      const { port } = other.address() as AddressInfo
      await machine.write('skerry-proxy.toml', serverRules().replace('127.0.0.1:0', `127.0.0.1:${port}`))
      await machine.write('program.sh', asking('API_KEY'))
      const run = ['proxy', 'run', '--task', '--', 'sh', 'program.sh']
      const { stdout, stderr } = await machine.skerry(run, { env: { SKERRY_TASK: await dispatch() } })
      other.close()
      expect(stdout, stderr).toBe('200 ')
    })

    it.each([
      ['--task', '--task needs a program'],
      ['--task -- true', '--task needs the token of a task in SKERRY_TASK'],
      ['--preset openai --task -- true', '--task needs the section [tasks] in skerry-proxy.toml'],
    ])('%s is refused', async (options, message) => {
      await machine.write('skerry-proxy.toml', serverRules())
      const { code, stderr } = await machine.shell(`skerry proxy run ${options}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    })
  })

  describe('skerry proxy init', () => {
    it('writes a settings file, and does not replace an existing file', async () => {
      await machine.shell('rm -f skerry-proxy.toml')
      expect(await machine.shell('skerry proxy init --preset openai,github')).toMatchObject({ code: 0 })
      expect(await machine.shell('skerry proxy init --preset openai')).toMatchObject({ code: 5 })
      const written = readFileSync(join(machine.project, 'skerry-proxy.toml'), 'utf8')
      expect(written).toContain('allow = ["GITHUB_TOKEN"]')
    })

    it('writes settings that fill placeholders only in headers', async () => {
      const settings = async (options: string) => {
        const done = await machine.shell(`skerry proxy init --file headers.toml --force ${options}`)
        expect(done.code, done.stderr).toBe(0)
        return parseConfig(await machine.read('headers.toml'), machine.project)
      }
      const { routes, forward } = await settings('--preset openai,github')
      const places = [...routes.map(({ places }) => places), ...(forward?.places ?? [])]
      expect(places).toEqual(Array(4).fill(['header']))
      const { policy, requireTask } = await settings(`--preset github --agent builder --signer ${signer}`)
      expect([policy.in, requireTask]).toEqual([['header'], true])
    })

    it('writes the organization of the agent, so that no policy of another organization is accepted', async () => {
      const { id } = JSON.parse(await alice.ok('skerry org ls --json')).orgs[0]
      const options = `--agent builder --signer ${signer}`
      for (const on of [machine, alice]) {
        const init = await on.shell(`skerry proxy init --file agent.toml --force ${options}`)
        expect(init.code, init.stderr).toBe(0)
        expect(parseConfig(await on.read('agent.toml'), on.project).policy.org).toBe(id)
      }
      const { stdout } = await machine.shell(`skerry proxy compose --image skerry ${options}`)
      const { configs } = parse(stdout)
      expect(parseConfig(configs['skerry-proxy'].content, '/skerry').policy.org).toBe(id)
    })

    it('needs a credential with --agent, and none with --preset', async () => {
      const init = (options: string) =>
        machine.shell(`env -u SKERRY_TOKEN skerry proxy init --file bare.toml --force ${options}`)
      expect(await init(`--agent builder --signer ${signer}`)).toMatchObject({ code: 3 })
      expect(await init('--preset openai')).toMatchObject({ code: 0 })
    })

    it.each([
      ['', 'no preset and no agent is named'],
      ['--preset none', 'there is no preset none'],
      ['--agent builder', '--agent needs --signer'],
      ['--agent builder --signer short', 'policy.signers[0]: must be the thumbprint of a key'],
    ])('%s is refused', async (options, message) => {
      for (const command of ['init --file new.toml', 'compose --image skerry']) {
        const { code, stderr } = await machine.shell(`skerry proxy ${command} ${options}`)
        expect(code).toBe(2)
        expect(stderr).toContain(message)
      }
    })
  })

  describe('skerry proxy compose', () => {
    it('prints a file whose services reach only the proxy, and have neither its token nor its key', async () => {
      const signers = `--signer ${'k'.repeat(43)}`
      for (const wish of ['--preset openai,github', `--agent builder ${signers}`]) {
        const { code, stdout, stderr } = await machine.shell(`skerry proxy compose --image skerry:1 ${wish}`)
        expect(code, stderr).toBe(0)
        const { services, networks, configs, ...rest } = parse(stdout)
        const behind = rest['x-behind-proxy']
        expect(networks[behind.networks[0]]).toEqual({ internal: true })
        expect(JSON.stringify(behind)).not.toMatch(/TOKEN|kept/)
        expect(behind.environment).toMatchObject({
          HTTPS_PROXY: 'http://skerry-proxy:8081',
          SSL_CERT_FILE: '/skerry/shared/skerry-proxy-ca.pem',
        })
        expect(services['skerry-proxy'].environment.SKERRY_TOKEN).toMatch(/^\$\{SKERRY_TOKEN:/)
        const config = parseConfig(configs['skerry-proxy'].content, '/skerry')
        expect(config.forward).toMatchObject({
          unmatchedHostPolicy: 'deny',
          caCert: '/skerry/shared/skerry-proxy-ca.pem',
        })
        expect(config.forward?.caKey).toMatch(/^\/skerry\/kept\//)
        expect(config.policy.source).toBe(wish.includes('--agent') ? 'server' : 'file')
      }
    })

    it.each([
      ['--preset openai', '--image is missing'],
      ['--preset openai --image "a b"', '--image must be the name of an image'],
    ])('%s is refused', async (options, message) => {
      const { code, stdout, stderr } = await machine.shell(`skerry proxy compose ${options}`)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain(message)
    })
  })
})
