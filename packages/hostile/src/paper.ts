import { attacks } from './play.ts'

// The attacks of “Zero Knowledge (About) Encryption: A Comparative Security Analysis of Three Cloud-based Password Managers”
// (Scarlata, Torrisi, Backendal, Paterson; https://eprint.iacr.org/2026/058), with the numbers and names of its table 1.

interface PaperRow {
  /** Number and name. Attacks on several products that are one attack here share a row. */
  names: readonly (readonly [number: string, name: string])[]
  /** Whether Skerry has the same attack. */
  here: 'no' | 'in part' | 'without a pin'
  why: string
  /** The ids of our attacks. */
  played: readonly string[]
}

interface PaperClass {
  title: string
  rows: readonly PaperRow[]
}

const classes: readonly PaperClass[] = [
  {
    title: 'Key escrow',
    rows: [
      {
        names: [
          ['BW01', 'Malicious Auto-Enrolment'],
          ['LP01', 'Malicious Password Reset'],
          ['1P01', 'Malicious Recovery Group'],
        ],
        here: 'no',
        why: 'No client enrols anybody in a recovery by itself. A client wraps keys to a recovery key only if signers have signed this recovery key, or if a person has accepted it after comparing its twelve words',
        played: ['false-recovery-key'],
      },
      {
        names: [['BW02', 'Malicious Key Rotation']],
        here: 'no',
        why: 'A client wraps a new key only to readers that a signer has signed. A person can accept another reader, after seeing the reader’s name and the twelve words of the reader’s key',
        played: ['added-reader', 'false-recovery-key'],
      },
      {
        names: [['BW03', 'Malicious KC Conversion']],
        here: 'no',
        why: 'No client gives a private key to a sign-in service, or to a server that stores keys for it (a key connector)',
        played: [],
      },
    ],
  },
  {
    title: 'Vault integrity',
    rows: [
      {
        names: [
          ['BW04', 'Unprotected Item Metadata'],
          ['LP06', 'Unprotected Item Metadata'],
        ],
        here: 'in part',
        why: 'Descriptions and tags of a secret are encrypted, and open only under the name of this secret. The server can read and change owners, expiry dates and notes',
        played: [],
      },
      {
        names: [
          ['BW05', 'Item Field Swapping'],
          ['LP02', 'Item Field Swapping'],
        ],
        here: 'no',
        why: 'A ciphertext opens only under its name and in its environment',
        played: ['renamed-value', 'value-of-a-group', 'value-of-a-branch'],
      },
      {
        names: [
          ['BW06', 'Icon URL Item Decryption'],
          ['LP03', 'Icon URL Item Decryption'],
        ],
        here: 'no',
        why: 'No client takes an address from a value and sends a request to it',
        played: [],
      },
      {
        names: [
          ['BW07', 'Remove KDF Iterations'],
          ['LP04', 'Remove KDF Iterations'],
          ['1P04', 'Remove KDF Iterations'],
        ],
        here: 'no',
        why: 'The client refuses a key derivation with less than 19 MiB of memory or fewer than 2 passes. The client sends nothing that it derives from the passphrase',
        played: ['cheap-passphrase'],
      },
      {
        names: [['LP05', 'Malleable Vault']],
        here: 'no',
        why: 'Values are encrypted with AES-256-GCM. An altered ciphertext does not open',
        played: ['altered-value'],
      },
      {
        names: [['DL01', 'Transaction Replay']],
        here: 'in part',
        why: 'The signed head has a date. A client with a pin refuses keys, groups and readers from a head that is more than 30 days old. With memory, it also refuses a head that is older than one that it has seen. Values have no date. A client notices an earlier value only if it has seen this value and a newer one',
        played: ['earlier-value', 'replayed-value', 'older-state'],
      },
      {
        names: [['1P02', 'Item Dropping/Duplication']],
        here: 'in part',
        why: 'A client refuses two secrets with one name. A client with a pin also refuses if a group is missing. If a secret is missing, no client refuses, because somebody may have deleted it. A client with memory warns',
        played: ['missing-value', 'repeated-value', 'missing-layer'],
      },
      {
        names: [['1P03', 'Vault Injection']],
        here: 'without a pin',
        why: 'A client with a pin refuses an environment that no signer has signed',
        played: ['invented-environment', 'added-layer', 'swapped-group'],
      },
    ],
  },
  {
    title: 'Sharing',
    rows: [
      {
        names: [['BW08', 'Organisation Injection']],
        here: 'in part',
        why: 'The server can show a person an organization that it made. A client that has a pin or remembers its own organization does not use this organization',
        played: ['other-organization', 'head-of-another-organization'],
      },
      {
        names: [['BW09', 'Organisation Overwrite']],
        here: 'without a pin',
        why: 'A client with a pin refuses another organization, because the root names the organization. It refuses another key of an environment, because the signed entry of the environment has a hash of the key',
        played: ['replaced-key', 'key-of-the-server'],
      },
      {
        names: [
          ['LP07', 'Sharing Key Overwrite'],
          ['DL02', 'Sharing Key Overwrite'],
          ['1P05', 'Sharing Key Overwrite'],
        ],
        here: 'no',
        why: 'A client gives a key to a person only if a signer has signed this person’s public key, or if somebody has compared its twelve words',
        played: ['swapped-key-of-a-person', 'added-reader'],
      },
      {
        names: [['1P06', 'Vault Substitution Attack']],
        here: 'without a pin',
        why: 'A client with a pin refuses a key that the server made, because this key does not match the hash in the signed entry',
        played: ['replaced-key', 'key-of-the-server', 'replaced-managed-key'],
      },
    ],
  },
  {
    title: 'Backwards compatibility',
    rows: [
      {
        names: [['BW10', 'Disable Per-Item Keys']],
        here: 'no',
        why: 'All secrets of an environment are encrypted with one key. There is no older scheme to which a client could fall back',
        played: [],
      },
      {
        names: [['BW11', 'User Key Overwriting']],
        here: 'no',
        why: 'The client computes a person’s public key from the private key. A keyring (an encrypted private key) opens only for its own person',
        played: ['other-own-key', 'keyring-of-another-person'],
      },
      {
        names: [
          ['BW12', 'Downgrade to Legacy'],
          ['DL03', 'Item Injection'],
          ['DL05', 'CBC-Only Downgrade'],
          ['DL06', 'Lucky 64'],
        ],
        here: 'no',
        why: 'Every ciphertext is authenticated (AES-256-GCM, without padding). A client accepts no other format',
        played: ['other-format', 'altered-value'],
      },
      {
        names: [['DL04', 'Remove KDF Iterations']],
        here: 'no',
        why: 'The client refuses a key derivation below a minimum cost, and there is no older format to which it could fall back',
        played: ['cheap-passphrase', 'other-format'],
      },
    ],
  },
]

/** Writes the table of the paper's attacks. */
export function formatPaper(): string {
  const known = new Set(attacks.map(({ id }) => id))
  const rows = classes.flatMap(({ title, rows: all }) =>
    all.map(({ names, here, why, played }) => {
      const unknown = played.find((id) => !known.has(id))
      if (unknown !== undefined) throw new Error(`no attack is called ${unknown}`)
      const numbered = names.map(([number, name]) => `${number} ${name}`).join('<br>')
      return `| ${title} | ${numbered} | ${here} | ${why} | ${played.map((id) => `\`${id}\``).join(', ')} |`
    }),
  )
  return [
    '| Class | The attack in the paper | Works against Skerry | Why | Rows above |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
