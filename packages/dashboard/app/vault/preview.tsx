import { Box, Group, isLightColor, Paper, Stack, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'

interface Shown {
  name: string
  logoUrl?: string | null
  accent?: string | null
}

const side = 40

/** Shows a project as the Connect page does: its picture or first letter, its name, and its colour on the button. */
export function Preview({ display: { name, logoUrl, accent } }: { display: Shown }) {
  const color = /^#[0-9a-f]{6}$/i.test(accent ?? '') ? (accent as string) : '#1c5fd4'
  const colors = { background: color, color: isLightColor(color) ? '#000' : '#fff' }
  return (
    <Paper component="figure" p="md" m={0} maw={360} aria-label="Preview of the Connect page">
      <Stack gap="sm">
        <Group gap="sm" wrap="nowrap">
          {logoUrl?.startsWith('data:image/') ? (
            <Picture key={logoUrl} url={logoUrl} />
          ) : (
            <Box w={side} h={side} style={{ ...colors, ...square, display: 'grid', placeItems: 'center' }}>
              {[...name][0]?.toUpperCase()}
            </Box>
          )}
          <Text fw={600} truncate>
            {name}
          </Text>
        </Group>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>{name}</b> would like to use your account.
        </Text>
        <Text size="sm" fw={600} ta="center" p={8} style={{ ...colors, borderRadius: 'var(--mantine-radius-md)' }}>
          Agree and continue
        </Text>
      </Stack>
    </Paper>
  )
}

const square = { flex: 'none', borderRadius: 10 }

/**
 * Draws the picture on a canvas, because the content security policy of these pages allows no image with a data URL.
 */
function Picture({ url }: { url: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => void draw(canvas.current, url), [url])
  return <canvas ref={canvas} width={2 * side} height={2 * side} style={{ ...square, width: side, height: side }} />
}

async function draw(canvas: HTMLCanvasElement | null, url: string): Promise<void> {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (char) => char.charCodeAt(0))
  // If it is not a picture, the space stays empty, as on the Connect page.
  const picture = await createImageBitmap(new Blob([bytes])).catch(() => null)
  if (picture) canvas?.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
}
