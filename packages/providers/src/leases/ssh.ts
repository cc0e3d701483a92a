import { sshPrincipalPattern } from '@skerry/contract/leases/targets'
import { addressFamily, isNetwork } from '../address.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkConfig } from './checks.ts'
import type { Issued, Lease, LeaseSession, LeaseTarget, TargetFacts } from './provider.ts'
import { nothingLeft } from './removal.ts'
import { newSerial, signUserCertificate } from './ssh-certificate.ts'
import { type CaKey, readCaKey, readPublicKey } from './ssh-keys.ts'

type Config = LeaseTarget<'ssh'>['config']

/** A certificate begins 60 s early, for hosts whose clock is behind. */
const skewSeconds = 60

const principalGrammar = new RegExp(sshPrincipalPattern)

/** Certificates need no connection, because hosts trust the authority. Nobody can revoke a certificate. */
export async function open(target: LeaseTarget<'ssh'>, outbound: Outbound): Promise<LeaseSession<'ssh'>> {
  const { config, credential } = target
  checkConfig(config)
  const ca = readCaKey(credential)
  if (!ca.blob.equals(readPublicKey(config.caPublicKey, 'caPublicKey').blob))
    throw new ProviderError('invalid', 'caPublicKey: does not belong to the private key')
  checkSources(config.sourceAddresses ?? [])
  return {
    verify: async () => verify(config, ca),
    create: async (lease) => create(config, ca, lease, outbound.now()),
    revoke: async () => nothingLeft,
    list: async () => [],
    close: async () => {},
  }
}

function verify(config: Config, ca: CaKey): TargetFacts {
  const notes = ['A certificate stays valid until it expires. Revoking a lease only marks it as revoked in Skerry.']
  if (!config.allowedPrincipals) notes.push('Leases may ask for any login name, because allowedPrincipals is not set.')
  return { server: `SSH certificate authority (${ca.type})`, notes }
}

function create(config: Config, ca: CaKey, lease: Lease<'ssh'>, now: Date): Issued<'ssh'> {
  const key = readPublicKey(lease.publicKey, 'publicKey')
  checkPrincipals(lease.principals, config.allowedPrincipals)
  const serial = newSerial()
  const certificate = signUserCertificate(ca, {
    key,
    serial,
    keyId: lease.id,
    principals: lease.principals,
    validAfter: Math.floor(now.getTime() / 1000) - skewSeconds,
    validBefore: Math.floor(lease.expiresAt.getTime() / 1000),
    criticalOptions: {
      ...(config.forceCommand === undefined ? {} : { 'force-command': config.forceCommand }),
      ...(config.sourceAddresses === undefined ? {} : { 'source-address': config.sourceAddresses.join() }),
    },
    extensions: config.extensions ?? ['permit-pty'],
  })
  return {
    resourceRef: serial.toString(),
    result: {
      certificate,
      principals: lease.principals,
      caPublicKey: config.caPublicKey,
      expiresAt: lease.expiresAt.toISOString(),
    },
  }
}

/** A certificate without principals may be valid for every account. A comma would make two principals of one. */
function checkPrincipals(principals: readonly string[], allowed: readonly string[] | undefined): void {
  if (principals.length === 0) throw new ProviderError('invalid', 'principals: name at least one')
  for (const [index, principal] of principals.entries()) {
    if (!principalGrammar.test(principal))
      throw new ProviderError('invalid', `principals[${index}]: must be a login name`)
    if (allowed && !allowed.includes(principal))
      throw new ProviderError('invalid', `principals: the target does not allow ${principal}`)
  }
}

function checkSources(sources: readonly string[]): void {
  for (const [index, source] of sources.entries()) {
    const refuse = (why: string) => new ProviderError('invalid', `sourceAddresses[${index}]: ${source} ${why}`)
    const [address = '', bits] = source.split('/')
    const most = addressFamily(address) === 6 ? 128 : 32
    if (!addressFamily(address) || (bits !== undefined && Number(bits) > most))
      throw refuse('must be an IP address or a network')
    // OpenSSH refuses every certificate of a target with such an address.
    if (bits !== undefined && !isNetwork(address, Number(bits)))
      throw refuse(
        `is an address inside a network; write the network’s first address before /${bits}, or leave /${bits} out`,
      )
  }
}
