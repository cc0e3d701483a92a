import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../../proxy/test/curl.ts'
import { forward, lookUpHere, startUpstream, startWorld } from '../../proxy/test/world.ts'
import { isQuick } from '../../server/test/extent.ts'
import { openChildEnvironment } from '../src/proxy/child-environment.ts'

// Unmodified clients call an upstream over HTTPS, in the environment that `skerry proxy run` makes. Each client trusts
// the certificate that the proxy shows in place of the upstream's.

const value = 'planted-5d1c7e-value'
const bearer = 'Bearer {{skerry:API_KEY}}'

const java = `public class Ask { public static void main(String[] a) throws Exception {
  var client = java.net.http.HttpClient.newBuilder().proxy(java.net.ProxySelector.getDefault()).build();
  var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(a[0])).header("Authorization", "${bearer}").build();
  System.out.println(client.send(request, java.net.http.HttpResponse.BodyHandlers.ofString()).body()); } }`

/** A program, its arguments before the address, and the file that it needs. */
const clients: Record<string, { file: string; args: string[]; needs?: string }> = {
  curl: { file: 'curl', args: ['-sS', '-H', `Authorization: ${bearer}`] },
  Git: { file: 'git', args: ['-c', `http.extraHeader=Authorization: ${bearer}`, 'ls-remote'] },
  'Node’s fetch': {
    file: process.execPath,
    args: [
      '-e',
      `fetch(process.argv[1], { headers: { authorization: '${bearer}' } }).then((a) => a.text()).then(console.log)`,
    ],
  },
  'Python’s urllib': {
    file: '/usr/bin/python3',
    args: [
      '-c',
      `import sys, urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], headers={'Authorization': '${bearer}'})).read())`,
    ],
  },
  'Python’s requests': {
    file: '/usr/bin/python3',
    args: ['-c', `import sys, requests; print(requests.get(sys.argv[1], headers={'Authorization': '${bearer}'}).text)`],
    needs: '/usr/lib/python3/dist-packages/requests',
  },
  'Java’s HttpClient': { file: '/usr/bin/java', args: ['Ask.java'], needs: '/usr/bin/java' },
}

for (const [name, { file, args, needs }] of Object.entries(clients)) {
  const isMissing = needs !== undefined && !existsSync(needs)
  if (isMissing && !isQuick) {
    if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw new Error(`there is no ${needs}`)
    process.stderr.write(`SKIPPED: ${name}: there is no ${needs}\n`)
  }
  it.skipIf(isQuick || isMissing)(
    `${name} sends a placeholder over HTTPS, and gets the answer without the secret`,
    async () => {
      const upstream = await startUpstream(undefined, { host: 'api.example.test' })
      const hosts = '[[forward.host]]\nmatch = "api.example.test"\nallow = ["API_KEY"]\n'
      const world = await startWorld(
        forward(hosts),
        { API_KEY: value },
        { upstreamCa: upstream.ca, lookUp: lookUpHere },
      )
      const { env, remove } = await openChildEnvironment(world, { PATH: process.env.PATH })
      onTestFinished(remove)
      await writeFile(join(world.folder, 'Ask.java'), java)
      const { stdout, stderr } = await run(file, [...args, `${upstream.origin}/client`], { env, cwd: world.folder })
      expect(upstream.got[0]?.headers.authorization, stderr).toBe(`Bearer ${value}`)
      expect(upstream.got[0]?.url).toMatch(/^\/client/)
      expect(stdout + stderr).not.toContain(value)
      // Git finds no repository in the answer, and prints nothing of it.
      if (name !== 'Git') expect(stdout).toContain('[redacted by skerry: API_KEY]')
    },
  )
}
