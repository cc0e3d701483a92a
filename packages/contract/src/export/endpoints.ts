import { Type } from 'typebox'
import { post } from '../endpoint.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'
import { archiveFormat } from './archive-format.ts'
import { HexDigest, SignatureValue } from './schemas.ts'

const RowCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const ArchiveSection = Strict({
  name: Type.String({ description: 'Name of the section in `data`' }),
  rows: RowCount,
  sha256: { ...HexDigest, description: 'SHA-256, in hex, of the rows in their RFC 8785 form, joined by newlines' },
  truncated: Type.Boolean({ description: 'True if `auditLimit` left out rows' }),
})

const ArchiveManifest = Strict({
  createdAt: Instant,
  digest: { ...HexDigest, description: 'SHA-256, in hex, of the RFC 8785 form of `sections`' },
  format: Type.Literal(archiveFormat),
  included: Strict({
    audit: Type.Boolean(),
    auditLimit: Nullable(RowCount),
    versions: Type.Boolean(),
  }),
  organization: Strict({ id: Id('organization'), slug: Type.String() }),
  requestedBy: Strict({ id: Nullable(Type.String()), type: Type.String() }),
  sections: Type.Array(ArchiveSection),
})

const ArchiveSignature = Strict({
  algorithm: Type.Literal('Ed25519'),
  keyId: Type.String({ description: 'Id of the key at `/.well-known/skerry-export-signing-key`' }),
  value: SignatureValue,
})

/** Everything that an organization has on this server, in one file that can be checked without the server. */
export const exporting = {
  create: post('/v1/orgs/:orgId/export', {
    summary:
      'Get an archive of the organization, as a stream. The archive shows the organization at one moment: its applications, environments, people, ciphertext, wrapped keys and audit log',
    unit: 'manual',
    body: Strict({
      includeVersions: Type.Optional(
        Type.Boolean({ description: 'Whether the archive has the earlier versions of secrets. Default: true' }),
      ),
      includeAudit: Type.Optional(
        Type.Boolean({ description: 'Whether the archive has the audit log. Default: true' }),
      ),
      auditLimit: Type.Optional(
        Nullable(
          Type.Integer({
            minimum: 1,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'How many of the newest audit entries the archive has. null (default): all entries',
          }),
        ),
      ),
    }),
    responses: {
      200: Strict({
        format: Type.Literal(archiveFormat),
        data: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))),
        manifest: ArchiveManifest,
        signature: Nullable(ArchiveSignature),
      }),
    },
    audits: ['org.exported'],
  }),
}
