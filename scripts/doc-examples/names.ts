import type { IncomingHttpHeaders } from 'node:http'
import type { PolicyBody, PolicyRule } from '../../packages/contract/src/agents/policy-body.ts'
import type { LeaseConfig, LeaseTag } from '../../packages/contract/src/leases/providers.ts'
import type { Bytes } from '../../packages/crypto/src/base64url.ts'
import type { HeadBody } from '../../packages/crypto/src/directory/head.ts'
import type { RootDocument, RootDraft } from '../../packages/crypto/src/directory/root.ts'
import type { DirectorySigner } from '../../packages/crypto/src/directory/signing.ts'
import type { EntryProof } from '../../packages/crypto/src/directory/tree.ts'
import type { VerifiedDirectory } from '../../packages/crypto/src/directory/verify.ts'
import type { PrivateKey } from '../../packages/crypto/src/keys.ts'
import type { SealingKey } from '../../packages/crypto/src/kms.ts'
import type { PolicySigner } from '../../packages/crypto/src/policy.ts'
import type { Dek } from '../../packages/crypto/src/secret.ts'
import type { Outbound } from '../../packages/providers/src/outbound.ts'
import type { Client } from '../../packages/sdk/src/client.ts'
import type { SignedDirectory } from '../../packages/sdk/src/directory/open.ts'
import type { MissingGrant } from '../../packages/sdk/src/granting.ts'
import type { LeaseTarget } from '../../packages/sdk/src/leases.ts'
import type { Layer } from '../../packages/sdk/src/resolve-body.ts'
import type { EnvironmentKey, Grantee } from '../../packages/sdk/src/secrets.ts'
import type { Skerry } from '../../packages/sdk/src/skerry.ts'
import type { LayerKey, SyncConnection } from '../../packages/sdk/src/sync.ts'
import type { Vault } from '../../packages/sdk/src/vault.ts'

// Names that an example in a doc comment may use without declaring them. Each has one meaning in all examples. A name
// that an example declares, or that its file declares or imports, replaces the name here.

/** Clients, as `createClient`, `createSkerry` and `createVault` make them. */
export declare const client: Client
export declare const skerry: Skerry
export declare const vault: Vault

/** The address of a server, a service token, and the part of the token that is sent. */
export declare const baseUrl: string
export declare const token: string
export declare const bearer: string

/** Ids, as the API returns them. */
export declare const orgId: string
export declare const appId: string
export declare const envId: string
export declare const userId: string
export declare const tokenId: string
export declare const principalId: string
export declare const kmsKeyId: string
export declare const bindingId: string
export declare const leaseId: string
export declare const changeRequestId: string
export declare const agentId: string
export declare const recoveryRequestId: string
export declare const connectionId: string
export declare const overrideId: string
export declare const teamId: string
export declare const offboardingId: string

/** Keys that people wait for, as `listMissingGrants` returns them. */
export declare const missing: MissingGrant[]

/** Keys: the key pair of a person or a token, the key of an environment, and that of a version of a managed key. */
export declare const privateKey: PrivateKey
export declare const publicKeyJwk: string
export declare const key: EnvironmentKey
export declare const dek: Dek
export declare const sealingKey: SealingKey
export declare const pkcs8: Bytes
export declare const signer: PolicySigner

/** The PRF output of a passkey, which opens a keyring. */
export declare const prfOutput: Bytes

/** The code of a person's recovery kit. */
export declare const kitCode: string

/** An organization's recovery key, its custodians, the environments that it opens, and the key of who recovers. */
export declare const recoveryKey: PrivateKey
export declare const custodians: { userId: string; publicKeyJwk: string }[]
export declare const environments: { environmentId: string; key: Bytes }[]
export declare const recoveryPublicKeyJwk: string
export declare const targetPublicKeyJwk: string

/** The signed directory: its documents, the decisions in a root, a signer, and the code that an inviter gave. */
export declare const rootText: string
export declare const rootDocument: RootDocument
export declare const rootDraft: RootDraft
export declare const headText: string
export declare const headBody: HeadBody
export declare const entryProof: EntryProof
export declare const verified: VerifiedDirectory
export declare const directorySigner: DirectorySigner
export declare const signedDirectory: SignedDirectory
export declare const joiningCode: string

/** Data that a program stores, seals, signs, reads and writes. `remembered` is a key or fingerprint from earlier. */
export declare const value: string
export declare const password: string
export declare const passphrase: string
export declare const blob: string
export declare const message: Bytes
export declare const signature: Bytes
export declare const ciphertext: string
export declare const file: AsyncIterable<Bytes>
export declare const out: WritableStreamDefaultWriter<Uint8Array>
export declare const remembered: string

/** Answers of the server. */
export declare const layer: Layer
export declare const layers: LayerKey[]
export declare const target: LeaseTarget
export declare const connection: SyncConnection
export declare const grantees: Grantee[]

/** Settings that a person has made. */
export declare const rules: PolicyRule[]
export declare const policyBody: PolicyBody
export declare const config: LeaseConfig<LeaseTag>

/** Parameters that a program passes: the network that an adapter may use, and the signal that stops a call. */
export declare const outbound: Outbound
export declare const signal: AbortSignal

/** A received request, as Node provides it. */
export declare const headers: IncomingHttpHeaders
export declare const body: string

// Functions of other modules, and of Node.
// biome-ignore lint/performance/noBarrelFile: only the compiler reads this file
export { spawn } from 'node:child_process'
export { createHash } from 'node:crypto'
export { createReadStream } from 'node:fs'
export { readFile } from 'node:fs/promises'
export { pipeline } from 'node:stream/promises'
export { apps } from '../../packages/contract/src/apps/endpoints.ts'
export { checkArchive } from '../../packages/contract/src/export/archive-check.ts'
export { encodeUtf8 } from '../../packages/crypto/src/base64url.ts'
export { canonicalJson } from '../../packages/crypto/src/canonical-json.ts'
export { sha256 } from '../../packages/crypto/src/digest.ts'
export { parsePin } from '../../packages/crypto/src/directory/pin.ts'
export { parsePublicKeyJwk } from '../../packages/crypto/src/keys.ts'
export { openDataKey } from '../../packages/crypto/src/kms.ts'
export { importSigningKey } from '../../packages/crypto/src/kms-sign.ts'
export { decide } from '../../packages/crypto/src/policy-decide.ts'
export { randomBytes } from '../../packages/crypto/src/random.ts'
export { importDek, newDek, openSecret } from '../../packages/crypto/src/secret.ts'
export { unwrapKey, wrapKey } from '../../packages/crypto/src/wrap.ts'
export { createClient } from '../../packages/sdk/src/client.ts'
export { createKnownState } from '../../packages/sdk/src/known-state.ts'
export { createLease } from '../../packages/sdk/src/leases.ts'
export { diskCache } from '../../packages/sdk/src/node/disk-cache.ts'
export { diskMemory } from '../../packages/sdk/src/node/disk-memory.ts'
export { grantEnvironment } from '../../packages/sdk/src/secrets.ts'
export { createSkerry } from '../../packages/sdk/src/skerry.ts'
