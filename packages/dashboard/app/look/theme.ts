import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

// Passes the tokens of tokens.css to Mantine, so that pages set neither sizes nor colours. Components are named by
// string, because an import would put them into the first load.

/** Shade 7 is the accent of the light scheme, and shade 3 that of the dark one. */
const sea: MantineColorsTuple = [
  ...(['#e1eff4', '#c6e0ea', '#a6d2e1', '#6cc3df', '#43a9c9'] as const),
  ...(['#2390b2', '#127799', '#0a6280', '#084e67', '#06394c'] as const),
]

/** Mantine’s grey, dark and red, in the hues of the tokens, for the parts of components that no token reaches. */
const gray: MantineColorsTuple = [
  ...(['#f7f9f9', '#f2f5f5', '#ecf1f2', '#dde4e6', '#c3ced2'] as const),
  ...(['#a5b3b8', '#818e95', '#5a6972', '#42515a', '#13212a'] as const),
]
const dark: MantineColorsTuple = [
  ...(['#e4ecef', '#b4c1c7', '#8f9ea5', '#65757d', '#35454d'] as const),
  ...(['#1a272d', '#172329', '#111a1e', '#0e1619', '#0b1215'] as const),
]
const red: MantineColorsTuple = [
  ...(['#fcecea', '#f7d3cf', '#e9b4af', '#ff9e94', '#f0776c'] as const),
  ...(['#de5348', '#c93a30', '#b3261e', '#931d17', '#6b302b'] as const),
]

const closeButtonProps = { 'aria-label': 'Close' }
const control = { '--button-height': 'var(--control)', '--button-padding-x': '10px', '--button-fz': '13px' }
/** Mantine works out the text colour of a filled button for one scheme only. */
const filled = (color: unknown) =>
  color === 'red'
    ? {
        '--button-bg': 'var(--danger-fill)',
        '--button-hover': 'var(--danger-fill)',
        '--button-color': 'var(--on-danger)',
      }
    : { '--button-bg': 'var(--accent)', '--button-hover': 'var(--accent-hover)', '--button-color': 'var(--on-accent)' }
const field = { '--input-height': 'var(--control)', '--input-fz': '13px', '--input-padding': '9px' }
const floating = { border: '1px solid var(--line-2)', background: 'var(--raised)', boxShadow: 'var(--shadow)' }

export const theme = createTheme({
  primaryColor: 'sea',
  primaryShade: { light: 7, dark: 3 },
  colors: { sea, gray, dark, red },
  black: '#13212a',
  autoContrast: true,
  luminanceThreshold: 0.35,
  respectReducedMotion: true,
  cursorType: 'pointer',
  // 760 px: the width at which the style sheets change to a phone.
  breakpoints: { sm: '47.5em' },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '3px', md: '5px', lg: '8px', xl: '8px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '14px', xl: '21px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '20px', xl: '28px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '14px', lineHeight: '20px' },
      h2: { fontSize: '14px', lineHeight: '20px' },
      h3: { fontSize: '13px', lineHeight: '20px' },
    },
  },
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 26 } },
    Alert: {
      defaultProps: { radius: 'md' },
      styles: {
        root: { padding: '10px 12px' },
        title: { fontSize: '13px', fontWeight: 600 },
        message: { fontSize: '13px' },
      },
    },
    Anchor: { defaultProps: { underline: 'hover' } },
    Badge: {
      defaultProps: { variant: 'light', color: 'gray', radius: 'sm', tt: 'none', fw: 500 },
      vars: () => ({ root: { '--badge-height': '18px', '--badge-fz': '11.5px', '--badge-padding-x': '6px' } }),
    },
    Button: {
      vars: (_theme: unknown, { variant = 'filled', color }: { variant?: string; color?: string }) => ({
        root: { ...control, ...(variant === 'filled' ? filled(color) : {}) },
      }),
      styles: { root: { fontWeight: 500 } },
    },
    Checkbox: {
      defaultProps: { size: '15px', radius: 'sm' },
      styles: { input: { borderColor: 'var(--field)' }, label: { fontSize: '13px' } },
    },
    Drawer: {
      defaultProps: { position: 'right', size: 600, withOverlay: false, lockScroll: false, closeButtonProps },
      styles: {
        header: { minHeight: '48px', padding: '0 12px 0 20px' },
        content: { borderLeft: '1px solid var(--line-2)' },
      },
    },
    Input: { vars: () => ({ wrapper: field }) },
    InputWrapper: {
      styles: {
        label: { fontWeight: 600, fontSize: '13px', marginBottom: '4px', maxWidth: '100%', overflowWrap: 'anywhere' },
        description: { fontSize: '12px' },
        error: { fontSize: '12px' },
      },
    },
    // Mantine’s menu focuses a placeholder before the first item by default, which is not allowed in a menu.
    Menu: {
      defaultProps: { withInitialFocusPlaceholder: false, radius: 'lg' },
      styles: { dropdown: { ...floating, padding: '4px' }, item: { padding: '4px 8px', fontSize: '13px' } },
    },
    Modal: {
      defaultProps: {
        radius: 'lg',
        yOffset: 88,
        transitionProps: { duration: 120 },
        overlayProps: { backgroundOpacity: 0.35 },
        closeButtonProps,
      },
      styles: {
        content: floating,
        header: { minHeight: '48px', padding: '0 12px 0 20px', background: 'none' },
        title: { fontSize: '15px', fontWeight: 600 },
        body: { padding: '0 20px 16px' },
      },
    },
    Notification: { styles: { description: { color: 'var(--ink-2)' } } },
    Paper: { defaultProps: { withBorder: true, p: 'md', radius: 'lg' } },
    SegmentedControl: {
      defaultProps: { withItemsBorders: false, radius: 'md' },
      styles: {
        root: { background: 'none', border: '1px solid var(--line-2)', padding: 0 },
        indicator: { background: 'var(--accent-soft)', boxShadow: 'none' },
        label: { padding: '3px 9px', fontSize: '13px' },
      },
    },
    Table: {
      defaultProps: {
        horizontalSpacing: 'md',
        verticalSpacing: '7px',
        highlightOnHover: true,
        highlightOnHoverColor: 'var(--hover)',
      },
      styles: {
        table: { fontSize: '13px' },
        th: { fontWeight: 400, fontSize: '12px', color: 'var(--ink-3)', paddingBlock: '7px' },
      },
    },
    Tooltip: { defaultProps: { openDelay: 300, fz: 12 } },
  },
})

const tint = (name: string, token: string) => ({
  [`--mantine-color-${name}-light`]: `var(--${token}-soft)`,
  [`--mantine-color-${name}-light-hover`]: `var(--${token}-soft)`,
  [`--mantine-color-${name}-light-color`]: `var(--${token})`,
})

const own = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-3)',
  '--mantine-color-placeholder': 'var(--ink-3)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--danger)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line-2)',
  '--mantine-color-disabled': 'var(--sunken)',
  '--mantine-color-disabled-color': 'var(--ink-3)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-color-gray-light': 'var(--hover)',
  '--mantine-color-gray-light-hover': 'var(--hover)',
  '--mantine-color-gray-light-color': 'var(--ink-2)',
  ...tint('sea', 'accent'),
  ...tint('red', 'danger'),
  '--mantine-color-red-text': 'var(--danger)',
  // Menu items use this shade.
  '--mantine-color-red-6': 'var(--danger)',
  ...tint('yellow', 'warn'),
  ...tint('orange', 'warn'),
  ...tint('green', 'ok'),
  ...tint('teal', 'ok'),
  ...tint('blue', 'accent'),
}

/** Mantine’s names for the tokens. Both schemes have the same ones, because a token has a value for each scheme. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {
    '--mantine-color-body': 'var(--surface)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-bright': 'var(--ink)',
  },
  light: own,
  dark: own,
})
