import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Nullable, Strict } from '../schema.ts'

// The server stores these texts and checks them for mistakes. Their format is in docs/directory-format.md, and a client
// verifies each of them itself.

const documentOf = (prefix: 'or1' | 'od1', description: string) =>
  Type.String({
    maxLength: limits.directoryDocumentCharacters,
    pattern: `^${prefix}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$`,
    description,
  })

const RootText = documentOf('or1', 'A root of the signed directory: the document that names the people who may sign')
const HeadText = documentOf('od1', 'A head of the signed directory: the signed document with the hash over all entries')

/** The hash of a root or a head. */
export const DirectoryHash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256 in base64url' })

const EntryKey = Type.String({
  maxLength: 150,
  pattern: '^(?:person|token|worker|environment|key)/[A-Za-z0-9_:/-]+$',
  description: 'The key of an entry, for example `environment/shop/production`',
})

const EntryText = Type.String({ minLength: 1, maxLength: limits.directoryEntryCharacters })

/** The documents that a signer adds to the directory. */
export const Signed = Strict(
  {
    root: Type.Optional(RootText),
    head: HeadText,
    entries: Type.Array(
      Strict({
        key: EntryKey,
        text: {
          ...Nullable(EntryText),
          description: 'The text of the entry. null removes the entry from the signed directory',
        },
      }),
      { maxItems: limits.directoryEntriesAtOnceMax, description: 'The entries of the signed directory that change' },
    ),
  },
  {
    description:
      'Documents that record this change in the signed directory, the list of keys and readers that people of the organization sign. If the caller is one of the people who sign, Skerry’s command line, dashboard and SDK fill in this field. In all other cases, leave it out',
  },
)

/**
 * The member that a signer’s client adds to a change. The change and the directory are stored in one transaction. Both
 * are refused if the directory has a newer head, or if an entry differs from what the change makes.
 */
export const trusted = { trust: Type.Optional(Signed) }

/** Shows that an entry is one of those that the head counts. */
export const EntryProof = Strict({ entry: EntryText, index: Type.Integer(), path: Type.Array(DirectoryHash) })

/** The part of an answer that a client verifies before it uses the rest. */
export const Directory = Strict({
  roots: Type.Array(RootText, {
    description:
      'Roots, oldest first, up to the newest. The list begins with the oldest root in the query that the server has. Without a root in the query, it begins with the first root',
  }),
  heads: Type.Array(HeadText, {
    description:
      'Heads, oldest first, up to the newest. The list begins after the version in the query. Without a version, it has only the newest head',
  }),
  proofs: Type.Array(EntryProof, { description: 'The requested entries that exist' }),
})

/** The query by which a client says what it trusts already. */
export const trustQuery = {
  root: Type.Optional(
    Type.Array(DirectoryHash, {
      maxItems: limits.directoryPinsMax,
      description:
        'Hash of a root that the client trusts. A root is the document of the signed directory that names the signers. You can repeat the parameter',
    }),
  ),
  head: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Version of the newest head that the client knows. A head is the document of the signed directory with the hash over all entries',
    }),
  ),
}

/** The key of a reader’s entry, or the thumbprint. */
export const ReaderPart = Type.String({ maxLength: 150, pattern: '^[A-Za-z0-9_:/-]+$' })

/** OpenAPI has no word for a list whose elements differ, so both are texts. */
const Reader = Type.Unsafe<[entryKey: string, kid: string]>(
  Type.Array(ReaderPart, {
    minItems: 2,
    maxItems: 2,
    description:
      'For an environment or a managed key: the key of the reader’s entry, and the thumbprint of the reader’s public key',
  }),
)

/** A claim of the server about one entry. A signer compares it with their own knowledge before they sign it. */
export const Claim = Strict({
  key: EntryKey,
  /** The members of the entry that the server knows. Commitments and the hash of the readers are the signer’s to make. */
  value: Nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'null if the server has no such object' })),
  readers: Nullable(
    Type.Array(Reader, {
      description: 'For an environment or a managed key: its current readers. null for other entries',
    }),
  ),
  signedReaders: Nullable(
    Type.Array(Reader, {
      description: 'The list of readers whose hash is in the newest entry. Compare the hash before you use the list',
    }),
  ),
})

export { EntryKey, EntryText, HeadText, RootText }
