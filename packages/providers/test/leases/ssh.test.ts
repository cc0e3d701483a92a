import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import type { Issued, LeaseTarget } from '../../src/leases/provider.ts'
import { newSerial, signUserCertificate } from '../../src/leases/ssh-certificate.ts'
import { readCaKey, readPublicKey } from '../../src/leases/ssh-keys.ts'
import { missingSshd } from '../services/sshd.ts'
import { leaseConformance } from './lease-conformance.ts'
import { askWith, caKinds, type Key, run, type SshScene, sshScene, user } from './ssh-scene.ts'

interface AskedWith extends ReturnType<typeof askWith> {
  key: Key
}

const suite = {
  start: sshScene,
  async ask({ newKey }: SshScene): Promise<AskedWith> {
    const key = await newKey('ed25519')
    return { key, ...askWith(key.publicKey) }
  },
  async use({ install, ssh }: SshScene, { key }: AskedWith, { result }: Issued<'ssh'>) {
    await install(key, result.certificate)
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
  },
  async validUntil({ install }: SshScene, { key }: AskedWith, { result }: Issued<'ssh'>) {
    const shown = await install(key, result.certificate)
    // `ssh-keygen` prints local time, and Date reads a time without a zone as local.
    return new Date(/Valid: from \S+ to (\S+)/.exec(shown)?.[1] ?? '')
  },
  wrong: ({ authorities }: SshScene) => authorities[1]!.privateKey,
  offline: true,
}

leaseConformance('ssh', missingSshd(), suite, (use) => {
  let scene: SshScene
  let ca: Key
  beforeAll(() => {
    scene = use.scene()
    ca = scene.authorities[0]!
  })

  type Config = LeaseTarget<'ssh'>['config']
  const open = (authority: Key, config: Partial<Config> = {}) =>
    use.open({
      config: { ...scene.target('readonly').config, caPublicKey: authority.publicKey, ...config },
      credential: authority.privateKey,
    })
  const newKey: SshScene['newKey'] = (...kind) => scene.newKey(...kind)
  const ssh: SshScene['ssh'] = (...command) => scene.ssh(...command)
  const lease = (...asked: Parameters<typeof askWith>) => askWith(...asked).lease
  /** Creates a certificate for the key, and puts it where `ssh` finds it. */
  const certify = async (by: Key, key: Key, config: Partial<Config> = {}, principals = [user], seconds = 600) => {
    const minted = lease(key.publicKey, principals, seconds)
    const issued = await (await open(by, config)).create(minted)
    return { minted, issued, shown: await scene.install(key, issued.result.certificate) }
  }

  it.each(caKinds)(
    'an authority of type %s %s signs certificates that ssh-keygen reads and sshd accepts',
    async (type, options) => {
      const index = caKinds.findIndex(([one, bits]) => one === type && bits === options)
      const key = await newKey('ed25519')
      const { minted, issued, shown } = await certify(scene.authorities[index]!, key)
      expect(shown).toContain(`Key ID: "${minted.id}"`)
      expect(shown).toContain(`Serial: ${issued.resourceRef}`)
      expect(shown).toMatch(/Principals: \n\s+\S+\n\s+Critical Options: \(none\)\n\s+Extensions: \n\s+permit-pty\n/)
      expect(await ssh(key, 'echo', 'in')).toBe('in\n')
    },
  )

  it.each([
    ['ed25519', []],
    ['ecdsa', ['-b', '256']],
    ['ecdsa', ['-b', '384']],
    ['ecdsa', ['-b', '521']],
    ['rsa', ['-b', '3072']],
  ])('a key of type %s %s signs in', async (type, options) => {
    const key = await newKey(type, ...options)
    await certify(ca, key)
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
  })

  it('a certificate contains the options that its target allows, in the order that OpenSSH requires', async () => {
    const key = await newKey('ed25519')
    const { shown } = await certify(ca, key, {
      extensions: ['permit-pty', 'permit-agent-forwarding', 'permit-X11-forwarding'],
      sourceAddresses: ['127.0.0.0/8', '::1'],
      forceCommand: 'echo forced',
    })
    expect(shown).toMatch(/force-command echo forced\n\s+source-address 127\.0\.0\.0\/8,::1\n/)
    expect(shown).toMatch(/permit-X11-forwarding\n\s+permit-agent-forwarding\n\s+permit-pty\n/)
    expect(await ssh(key, 'echo', 'asked')).toBe('forced\n')
  })

  it('a certificate ends with its lease, and is not valid for other accounts or networks', async () => {
    const key = await newKey('ed25519')
    await certify(ca, key, {}, [user], -1)
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
    await certify(ca, key, {}, ['somebody-else'])
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
    await certify(ca, key, { sourceAddresses: ['192.0.2.0/24'] })
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
  })

  it('the notes say that a certificate stays valid until it expires', async () => {
    expect((await (await open(ca)).verify()).notes[0]).toMatch(/valid until it expires/)
  })

  it('weak keys, certificates and malformed keys are refused', async () => {
    const session = await open(ca)
    const key = await newKey('ed25519')
    const { issued } = await certify(ca, key)
    const weak = await newKey('rsa', '-b', '2048')
    const [type, blob] = key.publicKey.split(' ') as [string, string]
    const bad = {
      'is a certificate': issued.result.certificate,
      'needs at least 3072 bits': weak.publicKey,
      'must be a key of the types': 'ssh-dss AAAAB3NzaC1kc3MAAACBAP',
      'says another type|cannot be read': `ecdsa-sha2-nistp256 ${blob}`,
      'cannot be read': `${type} AAAA`,
    }
    for (const [why, publicKey] of Object.entries(bad))
      await expect(session.create(lease(publicKey))).rejects.toMatchObject({
        reason: 'invalid',
        message: expect.stringMatching(new RegExp(why)),
      })
    await expect(open(weak)).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('missing principals, foreign ones and several in one text are refused', async () => {
    const { publicKey } = await newKey('ed25519')
    const session = await open(ca, { allowedPrincipals: ['deploy', 'ops'] })
    for (const principals of [[], ['root'], ['deploy', 'root'], ['deploy,root'], ['deploy root'], ['']])
      await expect(session.create(lease(publicKey, principals))).rejects.toMatchObject({ reason: 'invalid' })
    await session.create(lease(publicKey, ['ops']))
  })

  it('an unknown critical option is refused by the settings of a target, and by hosts', async () => {
    const criticalOptions = { 'require-moon': 'full' }
    await expect(open(ca, { criticalOptions } as Partial<Config>)).rejects.toMatchObject({ reason: 'invalid' })
    const key = await newKey('ed25519')
    const signed = async (options: Record<string, string>) => {
      const { id, principals, expiresAt } = lease(key.publicKey)
      const certificate = signUserCertificate(readCaKey(ca.privateKey), {
        key: readPublicKey(key.publicKey, 'publicKey'),
        serial: newSerial(),
        keyId: id,
        principals,
        validAfter: 0,
        validBefore: Math.floor(expiresAt.getTime() / 1000),
        criticalOptions: options,
        extensions: ['permit-pty'],
      })
      await scene.install(key, certificate)
    }
    await signed({})
    expect(await ssh(key, 'echo', 'in')).toBe('in\n')
    await signed(criticalOptions)
    await expect(ssh(key, 'true')).rejects.toThrow(/Permission denied/)
  })

  it('networks without host bits are accepted', async () => {
    const sourceAddresses = ['10.0.0.0/24', '10.0.0.128/25', '10.0.0.5/32', '10.0.0.5', '0.0.0.0/0', '2001:db8::/32']
    await open(ca, { sourceAddresses: [...sourceAddresses, '2001:db8::1/128', '2001:db8:0:8000::/49', '::/0'] })
  })

  it('keys of a security key (FIDO) are certified, with no-touch-required', async () => {
    const field = (value: string | Buffer) => {
      const bytes = Buffer.from(value as string)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return Buffer.concat([length, bytes])
    }
    const line = (type: string, ...fields: (string | Buffer)[]) =>
      `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')}`
    const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
    const ed25519 = 'sk-ssh-ed25519@openssh.com'
    const ecdsa = 'sk-ecdsa-sha2-nistp256@openssh.com'
    for (const publicKey of [line(ed25519, Buffer.alloc(32, 9), 'ssh:'), line(ecdsa, 'nistp256', point, 'ssh:')]) {
      const file = `${scene.folder}/security-key-${publicKey.slice(3, 8)}`
      const key = { file, privateKey: '', publicKey }
      const { shown } = await certify(ca, key, { extensions: ['no-touch-required', 'permit-pty'] })
      const type = publicKey.split(' ', 1)[0]!.replace('@', '-cert-v01@')
      expect(shown).toContain(`Type: ${type} user certificate`)
      expect(shown).toMatch(/Public key: (?:ED25519|ECDSA)-SK-CERT SHA256:/)
      expect(shown).toMatch(/Extensions: \n\s+no-touch-required\n/)
    }
    const session = await open(ca)
    for (const bad of [
      line(ed25519, Buffer.alloc(31), 'ssh:'),
      line(ed25519, Buffer.alloc(32)),
      line(ecdsa, 'nistp256', Buffer.alloc(65, 4), 'ssh:'),
      line(ed25519, Buffer.alloc(32), 'ssh:').slice(0, -8),
    ])
      await expect(session.create(lease(bad))).rejects.toMatchObject({ message: 'publicKey: cannot be read' })
  })

  it('unknown extensions, invalid networks and keys with a passphrase are refused', async () => {
    const other = await newKey('ed25519')
    const bad = [
      open(ca, { extensions: ['permit-everything' as 'permit-pty'] }),
      open(ca, { sourceAddresses: ['10.0.0.0/64'] }),
      ...[
        '10.0.0.5/24',
        '10.0.0.128/24',
        '0.0.0.1/0',
        '2001:db8::1/64',
        '2001:db8:0:8000::/48',
        '::ffff:10.0.0.1/120',
      ].map((source) => open(ca, { sourceAddresses: [source] })),
    ]
    await Promise.all(bad.map((opened) => expect(opened).rejects.toMatchObject({ reason: 'invalid' })))
    await run('ssh-keygen', ['-q', '-p', '-N', 'passphrase', '-f', other.file])
    const locked = { ...other, privateKey: readFileSync(other.file, 'utf8') }
    await expect(open(locked)).rejects.toMatchObject({ message: expect.stringMatching(/passphrase/) })
  })

  it('an authority’s key in PEM is accepted too', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const file = `${scene.folder}/pem`
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const publicKey = (await run('ssh-keygen', ['-y', '-f', file])).stdout.trim()
    const authority = { file, publicKey, privateKey: readFileSync(file, 'utf8') }
    await certify(authority, await newKey('ed25519'))
  })
})
