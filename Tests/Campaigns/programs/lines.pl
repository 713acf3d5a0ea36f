#!/usr/bin/perl
# Fetches numbered files and checks them, with JSON-RPC lines over the Unix socket and core modules alone.
#
#     lines.pl URL DIRECTORY COUNT
#
# The steps are those of docs/guide/json-rpc.md, "Over restarts".
use strict;
use warnings;
use IO::Socket::UNIX;
use JSON::PP;

my ($url, $directory, $count) = @ARGV;
my $path = $ENV{XFERD_SOCKET} // "$ENV{XDG_RUNTIME_DIR}/xferd.sock";
my $json = JSON::PP->new->utf8;
my @names = map { "$_.txt" } 0 .. $count - 1;

my $SHUTTING_DOWN = -32008;

my ($socket, $store, $position);
my $last_id = 0;
# The tasks that have ended, by id: more than those of this program, if others add tasks.
my %end;

# A write to a closed connection is an error, not the end of the program.
$SIG{PIPE} = 'IGNORE';

sub receive {
    my $line = <$socket> // die "lost\n";
    # A last line without its end is a message that was cut off.
    die "lost\n" unless $line =~ /\n\z/;
    my $message = $json->decode($line);
    if (($message->{method} // '') eq 'event') {
        my $event = $message->{params};
        die "events.overflow\n" if $event->{type} eq 'events.overflow';
        $end{$event->{task_id}} = $event;
        $position = $event->{seq};
    }
    return $message;
}

# Sends a request and reads up to its answer.
sub ask {
    my ($method, $params) = @_;
    my $id = ++$last_id;
    print $socket $json->encode({jsonrpc => '2.0', id => $id, method => $method, params => $params}), "\n"
        or die "lost\n";
    while (1) {
        my $message = receive();
        next unless exists $message->{id} && $message->{id} == $id;
        return $message->{result} unless $message->{error};
        die "lost\n" if $message->{error}{code} == $SHUTTING_DOWN;
        die "$method: $message->{error}{message}\n";
    }
}

sub connect_again {
    until ($socket = IO::Socket::UNIX->new(Peer => $path)) { select undef, undef, undef, 0.5 }
    $socket->autoflush(1);
    my $found = ask('daemon.status', {})->{store_id};
    $store //= $found;
    die "another database: $found instead of $store\n" if $store ne $found;
    my $subscribed = ask('events.subscribe', {
        types => [qw(task.completed task.failed task.cancelled task.superseded)],
        defined $position ? (since => $position) : (),
    });
    die "events after $position are no longer kept\n" if $subscribed->{gap};
    $position //= $subscribed->{last_seq};
}

# Does something on a connection, again on the next one if that is lost.
sub over_restarts {
    my ($action) = @_;
    while (1) {
        my $result = eval { connect_again() unless $socket; $action->() };
        return $result unless $@;
        die $@ if $@ ne "lost\n";
        undef $socket;
    }
}

my @ids;
my @left = @names;
while (my @part = splice @left, 0, 1000) {
    my @tasks = map { {url => "$url/$_", dir => $directory, output => $_, client_key => "campaign $_"} } @part;
    push @ids, @{over_restarts(sub { ask('task.add', {tasks => \@tasks}) })->{ids}};
}
for my $id (@ids) {
    over_restarts(\&receive) until $end{$id};
    print "#$id: $end{$id}{type}: ", $end{$id}{error}{message} // '', "\n" if $end{$id}{type} ne 'task.completed';
}

my %wanted = map { $_ => 1 } @names;
my $status = 0;
opendir my $listing, $directory or die "$directory: $!\n";
for my $name (grep { !/^\./ && !$wanted{$_} } readdir $listing) {
    print "not asked for: $name\n";
    $status = 1;
}
my $right = 0;
for my $name (@names) {
    my $file;
    my $bytes = open($file, '<:raw', "$directory/$name") ? do { local $/; <$file> } : '';
    if ($bytes eq "$name\n" x 100) { $right++ } else { print "missing or wrong: $name\n"; $status = 1 }
}
print "$right files are right\n";
exit $status;
