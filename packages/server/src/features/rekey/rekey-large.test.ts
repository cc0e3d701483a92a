import { once } from 'node:events'
import { request } from 'node:http'
import { limits } from '@skerry/contract/limits'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { isQuick } from '../../../test/extent.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { newApp, newEnv, signUp } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

const { scene, bodyOf, run, listed } = rekeying()

describe('a large environment', () => {
  const fill = async (count: number, bytes: number) => {
    scene.envId = (await newEnv(scene.world, scene.tenant, (await newApp(scene.world, scene.tenant)).id)).id
    await scene.world.server.context.db.rows(
      `with made as (
         insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
         select $1, 'sec_' || left(md5($2 || n), 22), $2, 'NAME_' || n, 1, $4, now(), now() from generate_series(1, $3::int) n
         returning id)
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, 1, $4, 'service_token', $5, now() from made`,
      [scene.tenant.orgId, scene.envId, count, ciphertext(bytes), scene.tenant.admin.id],
    )
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`NAME_${index + 1}`, 1]))
  }

  test('of a thousand secrets, far beyond the usual body limit, is re-keyed in one request', async () => {
    const expectedVersions = await fill(1000, 8000)
    const body = bodyOf({ expectedVersions, kept: [scene.tenant.admin] })
    body.secrets = body.secrets.map(({ name }) => ({ name, ciphertext: ciphertext(8000) }))
    expect(JSON.stringify(body).length).toBeGreaterThan(4 * limits.bodyBytes)
    expect((await run(body)).body).toMatchObject({ rekeyedSecrets: 1000 })
    const sent = new Map(body.secrets.map(({ name, ciphertext }) => [name, ciphertext]))
    const now = await listed()
    expect(now).toHaveLength(1000)
    expect(now.every(({ name, version, ciphertext }) => version === 2 && sent.get(name) === ciphertext)).toBe(true)
  })

  test.skipIf(isQuick)(
    'of the maximum size, in secrets and in bytes, is re-keyed in one request',
    async () => {
      const bytes = 4900
      const expectedVersions = await fill(limits.rekeySecretsMax, bytes)
      const { environmentBytesMax } = scene.world.server.context.config
      expect(limits.rekeySecretsMax * ciphertext(bytes).length).toBeGreaterThan(0.95 * environmentBytesMax)
      const body = bodyOf({ expectedVersions, kept: [scene.tenant.admin] })
      body.secrets = body.secrets.map(({ name }) => ({ name, ciphertext: ciphertext(bytes) }))
      expect((await run(body)).body).toMatchObject({ rekeyedSecrets: limits.rekeySecretsMax })
    },
    300_000,
  )

  /** Sends the headers for a body of this size, but no body. */
  const announce = (bytes: number, authorization: string) =>
    new Promise<{ status: number | undefined; text: string }>((done, fail) => {
      const headers = { authorization, 'content-type': 'application/json', 'content-length': String(bytes) }
      const url = `${scene.world.url}/v1/orgs/${scene.tenant.orgId}/envs/${scene.envId}/rekey`
      const sent = request(url, { method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          done({ status: response.statusCode, text })
          sent.destroy()
        })
      })
      sent.on('error', fail)
      sent.flushHeaders()
    })

  test('whose re-key exceeds its own body limit is refused with a clear message', async () => {
    const { status, text } = await announce(limits.rekeyBodyBytes + 1, scene.tenant.admin.as)
    expect([status, JSON.parse(text).error.message]).toEqual([400, `body: larger than ${limits.rekeyBodyBytes} bytes`])
  })

  test('is not read from a caller who may not re-key: the server refuses before the body is sent', async () => {
    const large = limits.bodyBytes + 1
    const elsewhere = await signUp(scene.world)
    const callers = [scene.holder.as, scene.tenant.machine.as, elsewhere.admin.as, 'Bearer skt_unknown']
    const answers = await Promise.all(callers.map((as) => announce(large, as)))
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 404, 401])
  })

  test('is read once at a time from one caller, while small bodies always pass', async () => {
    const url = `${scene.world.url}/v1/orgs/${scene.tenant.orgId}/envs/${scene.envId}/rekey`
    const headers = {
      authorization: scene.tenant.admin.as,
      'content-type': 'application/json',
      'content-length': String(limits.bodyBytes + 1),
      // The answer to this header shows that the request has arrived first.
      expect: '100-continue',
    }
    const slow = request(url, { method: 'POST', headers })
    slow.on('error', () => {})
    await once(slow, 'continue')
    // This body exceeds every limit, so the server answers at once if it lets the request through.
    const another = () => announce(limits.rekeyBodyBytes + 1, scene.tenant.admin.as)
    try {
      const refused = await until('the first one is being read', async () => {
        const answer = await another()
        return answer.status === 429 ? answer : undefined
      })
      expect(JSON.parse(refused.text).error.code).toBe('rate_limited')
      expect((await run()).status).toBe(200)
    } finally {
      slow.destroy()
    }
    await until('the place is free again', async () => (await another()).status === 400)
  })
})
