import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/**
 * A cell with a main text and a dimmed line below it. A text that is too long is cut off, and its tooltip shows the
 * whole text.
 */
export function TwoLines(props: { main: ReactNode; below?: ReactNode; title?: string; belowTitle?: string }) {
  const { main, below, title, belowTitle } = props
  return (
    <>
      <Text size="sm" fw={500} truncate title={title ?? titleOf(main)} component="div">
        {main}
      </Text>
      {below !== undefined && below !== null && (
        <Text size="xs" c="dimmed" truncate title={belowTitle ?? titleOf(below)} component="div">
          {below}
        </Text>
      )}
    </>
  )
}

/** A name, which may be a link, with the ID or slug below it. */
export function NameAndId({ name, id, link }: { name: string; id: string; link?: ReactNode }) {
  return <TwoLines main={link ?? name} title={name} below={<span className="mono">{id}</span>} belowTitle={id} />
}

/** A cell with one line of text. */
export function OneLine({ text, dimmed = false }: { text: string; dimmed?: boolean }) {
  return (
    <Text size="sm" truncate title={text} {...(dimmed ? { c: 'dimmed' } : {})}>
      {text}
    </Text>
  )
}

const titleOf = (node: ReactNode) => (typeof node === 'string' ? node : '')
