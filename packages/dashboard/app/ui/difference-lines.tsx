import { Box } from '@mantine/core'
import type { Line } from '../worker/diff-lines.ts'

const signs = { same: ' ', removed: '−', added: '+' }
const grounds = {
  same: 'transparent',
  removed: 'var(--mantine-color-red-light)',
  added: 'var(--mantine-color-teal-light)',
}
const names = { same: 'Unchanged', removed: 'Removed', added: 'Added' }

/** Lines that were removed, added or kept. */
export function DifferenceLines({ lines }: { lines: Line[] }) {
  return (
    <Box component="ul" m={0} p={0} className="mono" style={{ listStyle: 'none', overflowX: 'auto' }} tabIndex={0}>
      {lines.map(({ kind, text }, i) => (
        <Box
          component="li"
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to tell them apart
          key={i}
          px="xs"
          py={2}
          aria-label={names[kind]}
          style={{ background: grounds[kind], whiteSpace: 'pre-wrap', wordBreak: 'break-all' }}
        >
          <span aria-hidden>{signs[kind]} </span>
          {text}
        </Box>
      ))}
    </Box>
  )
}
