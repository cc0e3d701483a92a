import { Type } from 'typebox'
import { AuditEntry } from '../audit/schemas.ts'
import { get } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'
import { Hash } from './schemas.ts'

const Size = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Number of entries in the Merkle tree',
})

const LeafIndex = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The position of the entry in the tree. The first entry has 0',
})

const BrokenAt = {
  ...Nullable(Instant),
  description:
    'When the server found that somebody had changed stored hashes of the audit log. Since then, the server seals no entries. null if no hash was changed',
}

/** A sealed entry. The seal covers the entry itself, in the one form that RFC 8785 gives its JSON. */
const AuditLeaf = Strict({
  index: LeafIndex,
  entryId: Id('audit'),
  createdAt: Instant,
  hash: Hash,
  entry: Nullable(AuditEntry),
})

/** Proof that the audit log is unchanged: an append-only Merkle tree (RFC 6962) for each organization. */
export const auditProof = {
  checkpoint: get('/v1/orgs/:orgId/audit/checkpoint', {
    summary:
      'Get the newest checkpoint of the audit log, signed by the server: the number of entries, and a hash over all of them',
    responses: {
      200: Strict({
        checkpoint: Type.String({ description: 'The checkpoint: a C2SP tlog-checkpoint in a signed note' }),
        size: Size,
        signedAt: Instant,
        brokenAt: BrokenAt,
      }),
    },
    refuses: ['conflict'],
  }),
  inclusion: get('/v1/orgs/:orgId/audit/proof/inclusion', {
    summary:
      'Get a proof that an entry is in the audit log. The proof is for the Merkle tree (a tree of hashes) over the first `size` entries. Default of `size`: the current number of entries',
    query: Strict({ entry: { ...Id('audit'), description: 'Id of the entry to prove' }, size: Type.Optional(Size) }),
    responses: { 200: Strict({ proof: Strict({ index: LeafIndex, size: Size, hashes: Type.Array(Hash) }) }) },
    refuses: ['conflict'],
  }),
  consistency: get('/v1/orgs/:orgId/audit/proof/consistency', {
    summary:
      'Get a proof that the audit log only grew: its first `from` entries are still the same when it has `to` entries. Default of `to`: the current number of entries',
    query: Strict({
      from: { ...Size, description: 'Number of entries in the earlier Merkle tree' },
      to: Type.Optional({ ...Size, description: 'Number of entries in the later Merkle tree' }),
    }),
    responses: { 200: Strict({ proof: Strict({ from: Size, to: Size, hashes: Type.Array(Hash) }) }) },
    refuses: ['conflict'],
  }),
  leaves: get('/v1/orgs/:orgId/audit/leaves', {
    summary:
      'List the audit entries that are in the Merkle tree, in the order of the tree, each with its hash. `entry` is null if the database no longer has the entry, because the operator has archived it',
    query: Strict({
      from: Type.Optional({ ...LeafIndex, description: 'Index of the first entry. Default: 0' }),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: limits.auditLeavesMax,
          description: `The most entries that the answer may have. Default: ${limits.auditLeavesMax}`,
        }),
      ),
    }),
    responses: { 200: Strict({ leaves: Type.Array(AuditLeaf), size: Size, brokenAt: BrokenAt }) },
    refuses: ['conflict'],
  }),
  exportKey: get('/.well-known/skerry-export-signing-key', {
    summary:
      'Get the public key with which you verify the server’s signatures of checkpoints and archives. The answer is 404 if the server has no signing key',
    surface: 'none',
    responses: {
      200: Strict({
        algorithm: Type.Literal('Ed25519'),
        publicKey: Type.String({
          pattern: '^[A-Za-z0-9_-]{43}$',
          description: 'The public key: 32 bytes, in base64url',
        }),
        keyId: Type.String(),
      }),
    },
    refuses: ['not_found'],
  }),
}
